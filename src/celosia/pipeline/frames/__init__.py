"""A frame becomes an anonymous frame: the same plan as a project, without a file."""
