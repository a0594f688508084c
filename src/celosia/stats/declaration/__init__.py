"""What a STATS project declares, the file it is written in, and what the page shows of it."""
