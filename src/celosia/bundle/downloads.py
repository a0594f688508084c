"""Packages brought by pip from the registries it is set up with, every file compared with the digest in the lock.

Knows pip's command line. Ignores what a bundle looks like. The only module of celosia that uses the network.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from celosia import messages
from celosia.bundle.errors import PackagesNotDownloaded
from celosia.bundle.lock import Entry
from celosia.bundle.platforms import Platform
from celosia.model.errors import MissingExtra

_NEEDED = ("pip", "packaging", "setuptools")
_NAMED = re.compile(r"([A-Za-z0-9._-]+)==")


def require_tools() -> None:
    """Say at once which part is missing, before anything is downloaded."""
    if any(importlib.util.find_spec(name) is None for name in _NEEDED):
        raise MissingExtra(feature=messages.text("bundle.feature"), extra="bundle")


def install_packages(
    entries: Sequence[Entry], platform: Platform, python: str, site: Path, scratch: Path, compiled: bool
) -> None:
    """Unpack the wheels of the entries into `site`."""
    options = ["--target", str(site), "--implementation", "cp", "--python-version", python.replace(".", "")]
    for tag in platform.tags:
        options += ["--platform", tag]
    options += ["--only-binary", ":all:", *([] if compiled else ["--no-compile"])]
    _run_pip("install", options, entries, platform, scratch)


def download_sources(entries: Sequence[Entry], platform: Platform, scratch: Path) -> Path:
    """The source packages of the entries, in one folder."""
    options = ["--dest", str(scratch / "sources"), "--no-binary", ":all:", "--no-build-isolation"]
    _run_pip("download", options, entries, platform, scratch)
    return scratch / "sources"


def download_wheels(entries: Sequence[Entry], platform: Platform, python: str, scratch: Path) -> Path:
    """The wheels of the entries, in one folder."""
    options = ["--dest", str(scratch / "wheels"), "--only-binary", ":all:", "--python-version", python.replace(".", "")]
    options += [word for tag in platform.tags for word in ("--platform", tag)]
    _run_pip("download", options, entries, platform, scratch)
    return scratch / "wheels"


def unpack(archive: Path, folder: Path) -> None:
    """Everything an archive holds, nothing outside the folder."""
    if archive.name.endswith(".tar.gz"):
        with tarfile.open(archive) as members:
            members.extractall(folder, filter="data")
    else:
        with zipfile.ZipFile(archive) as members:
            members.extractall(folder)


def _run_pip(verb: str, options: Sequence[str], entries: Sequence[Entry], platform: Platform, scratch: Path) -> None:
    wanted = scratch / f"{verb}.txt"
    wanted.write_text("".join(f"{entry.requirement()}\n" for entry in entries), "utf-8", newline="\n")
    command = [sys.executable, "-m", "pip", verb, "--quiet", "--disable-pip-version-check", "--no-input"]
    command += ["--no-deps", "--require-hashes", "--requirement", str(wanted), *options]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode:
        words = done.stderr.decode("utf-8", "replace")
        raise PackagesNotDownloaded(platform=platform.name, package=_last_named(words, entries))


def _last_named(words: str, entries: Sequence[Entry]) -> str:
    """The package that pip names last before it stops; pip's other words may hold addresses with passwords."""
    known = {entry.name: f"{entry.name}=={entry.version}" for entry in entries}
    named = [re.sub(r"[-_.]+", "-", name).lower() for name in _NAMED.findall(words)]
    return next((known[name] for name in reversed(named) if name in known), "?")
