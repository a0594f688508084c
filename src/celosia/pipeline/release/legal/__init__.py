"""Signatures with legal effect on the forms of a release, and time stamps: taken in and verified without a network."""
