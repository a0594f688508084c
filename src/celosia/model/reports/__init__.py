"""What an operation answers, each with its versioned format."""
