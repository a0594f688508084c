"""Attacks on a file about to be published, and the test with a person."""
