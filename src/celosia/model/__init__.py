"""Frozen types that every room speaks, and the names of their file formats. Standard library only."""
