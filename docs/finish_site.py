"""Closes the built site: a door that leads to both languages, and the check that nothing is loaded from outside.

Run by `make docs` after the site generator.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path

SITE = Path(__file__).resolve().parent / "site"
DOOR = """<!doctype html>
<html lang="es"><head><meta charset="utf-8"><title>celosia</title>
<meta http-equiv="refresh" content="0; url=es/index.html"></head>
<body><p><a href="es/index.html">celosia en español</a> · <a href="en/index.html" lang="en">celosia in English</a></p>
</body></html>
"""


class _Loaded(HTMLParser):
    """Collects the addresses a browser would fetch by itself; links a person may follow are not among them."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        wanted = given.get("href") if tag == "link" and given.get("rel") not in ("canonical", "alternate") else None
        self.addresses += [value for value in (wanted, given.get("src"), given.get("srcset")) if value]


def outside(page: str) -> list[str]:
    """Addresses on other machines that a page would load."""
    parser = _Loaded()
    parser.feed(page)
    return [address for address in parser.addresses if address.startswith(("http:", "https:", "//"))]


def main() -> int:
    """Write the door and fail, naming the page, when something comes from outside."""
    (SITE / "index.html").write_text(DOOR, "utf-8")
    faults = 0
    for path in sorted(SITE.rglob("*.html")):
        for address in outside(path.read_text("utf-8")):
            print(f"{path.relative_to(SITE)} loads {address}", file=sys.stderr)
            faults += 1
    return min(faults, 1)


if __name__ == "__main__":
    sys.exit(main())
