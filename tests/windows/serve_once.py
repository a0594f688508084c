"""Run by Windows' Python: starts `celosia serve` over a folder, reads its first pages and stops it.

python serve_once.py FOLDER PROJECT    prints one line a page: its status and its title
"""

from __future__ import annotations

import html
import re
import subprocess
import sys
import urllib.request
from http.cookiejar import CookieJar


def main(folder: str, project: str) -> None:
    """Enter by the address that is printed, as the browser does, and look around."""
    words = [sys.executable, "-m", "celosia", "serve", folder, "--no-browser"]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, encoding="cp1252", errors="replace")
    assert server.stdout is not None
    try:
        address = next(match[0] for line in server.stdout if (match := re.search(r"http://\S+", line)))
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
        host = address.partition("/enter")[0]
        for page in (address, f"{host}/p/{project}", f"{host}/p/{project}/data"):
            with browser.open(page, timeout=300) as answer:
                title = re.search(r"<title>(.*?)</title>", answer.read().decode("utf-8"))
                print(answer.status, html.unescape(title[1]) if title else "")
    finally:
        server.kill()
        server.wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
