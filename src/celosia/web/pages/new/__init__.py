"""The pages that make a project from a file."""
