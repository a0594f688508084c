"""Run by Windows' Python: starts `celosia serve` over a folder, enters where it sends the browser, reads some pages.

python serve_once.py FOLDER PROJECT      prints one line a page: its status and its title
python serve_once.py --browser FILE URL  stands for the browser: notes where it was sent
"""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path

_PATIENCE = 300  # seconds on a busy machine


def main(folder: str, project: str) -> None:
    """Enter by the address that the browser is sent to, and look around."""
    address_file = Path(tempfile.mkdtemp()) / "address.txt"
    browser_line = " ".join(f'"{Path(word).as_posix()}"' for word in (sys.executable, __file__))
    environment = {**os.environ, "BROWSER": f'{browser_line} --browser "{address_file.as_posix()}" %s'}
    words = [sys.executable, "-m", "celosia", "serve", folder]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, encoding="cp1252", errors="replace", env=environment)
    assert server.stdout is not None
    try:
        printed = next(match[0] for line in server.stdout if (match := re.search(r"http://\S+", line)))
        address = _browser_address(address_file)
        assert address == printed
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
        host = address.partition("/enter")[0]
        for page in (address, f"{host}/p/{project}", f"{host}/p/{project}/data"):
            with browser.open(page, timeout=300) as answer:
                title = re.search(r"<title>(.*?)</title>", answer.read().decode("utf-8"))
                print(answer.status, html.unescape(title[1]) if title else "")
    finally:
        server.kill()
        server.wait()


def _browser_address(file: Path) -> str:
    """Where the browser was sent, as soon as it is."""
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        if file.exists() and (address := file.read_text("utf-8")):
            return address
        time.sleep(0.2)
    raise TimeoutError("no browser was opened")


if __name__ == "__main__":
    if sys.argv[1] == "--browser":
        Path(sys.argv[2]).write_bytes(sys.argv[3].encode())
    else:
        main(*sys.argv[1:])
