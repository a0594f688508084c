"""The command line: it parses and shows, it computes nothing.

Exit codes: 0 done, 1 refused by a rule or no solution, 2 wrong use or bad input, 3 our own fault.
"""

from celosia.cli.entry import build_cli, main

__all__ = ["build_cli", "main"]
