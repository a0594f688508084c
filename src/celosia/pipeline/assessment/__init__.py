"""Risk, utility and protected tables of any file, without changing it."""
