"""From a raw source to a described project: reading, profile, proposed dictionary and treatments."""
