"""A project is a folder: its files, people, journal, request and saved reports."""
