"""The pages of the hierarchies."""
