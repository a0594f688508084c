"""The STATS database: its tables, its history and the scan of what was written."""
