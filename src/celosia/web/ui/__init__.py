"""What every page is made of: frame, widgets, guided tour."""
