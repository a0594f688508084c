"""The pages of the motivated intruder."""
