"""The public functions: one verb, one name, the same as on the command line and on the page."""
