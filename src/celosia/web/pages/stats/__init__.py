"""The pages of a STATS project."""
