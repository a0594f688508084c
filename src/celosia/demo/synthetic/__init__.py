"""Invented data about people nobody is: for the demonstration, the benches and the tests.

Knows how real files of hospitals, surveys and applications look. Ignores everything celosia does with them.
Names, numbers, addresses and establishments are chance combinations: any likeness is chance.
The same seed gives the same bytes on any machine, and the first rows do not depend on how many are asked for.
"""
