"""The pages of the dictionary."""
