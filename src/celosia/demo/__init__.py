"""Demonstration projects and the invented data they are made of."""
