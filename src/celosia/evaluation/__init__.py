"""What a transformation costs: declared losses, and measures of what is preserved."""
