"""Runs a verb in a process that dies at its n-th touch of the disk; a script, so that it starts without threads.

Usage: killed_process.py VERB PROJECT SCRATCH FIRST STEP; keys for `approve`, `sign` and `join` lie beside the project.
For each n: a copy of the project, a child that is killed at n,
what it left behind as a line of JSON, then the same verb again in a child that lives. Stops when a child lives through.
"""

from __future__ import annotations

import builtins
import io
import json
import os
import shutil
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
TOUCHES = ("rename", "replace", "fsync", "mkdir", "unlink", "utime", "chmod", "rmdir")
KILLED = 137
PHRASE = "una frase de paso"
SIGNING: dict[str, Callable[[Any, Path], Callable[[Path], object]]] = {
    "approve": lambda desk, keys: (
        lambda folder: desk.approve_with_key(folder, "candidate", "verifier", keys / "verifier.key", PHRASE, now=NOW)
    ),
    "sign": lambda desk, keys: (
        lambda folder: desk.sign_with_key(folder, "2026-11-15", "head", keys / "head.key", PHRASE, now=NOW)
    ),
    "join": lambda desk, keys: lambda folder: desk.join_card(folder, keys / "new.pub.json", ("delegate",), now=NOW),
}


def verb_of(name: str) -> Callable[[Path], object]:
    """The verb, with all that it needs imported before any child is made."""
    import celosia.kernels.judge
    import celosia.pipeline.candidate.run
    import celosia.pipeline.release.documents
    import celosia.pipeline.release.make_release
    import celosia.workbench.signing_keys

    keys = Path(sys.argv[2]).parent / "keys"
    if name in SIGNING:
        return SIGNING[name](celosia.workbench.signing_keys, keys)
    if name == "release":
        return lambda folder: celosia.pipeline.release.make_release.make_release(folder, now=NOW)
    return lambda folder: celosia.pipeline.candidate.run.run_plan(folder, now=NOW)


def dying_at(n: int) -> None:
    """From now on the n-th touch of the disk is the last thing that happens: it does not happen."""
    count = 0

    def counted(real: Callable[..., object], changes: Callable[..., bool]) -> Callable[..., object]:
        def touch(*args: object, **settings: object) -> object:
            nonlocal count
            count += changes(*args, **settings)
            if count >= n:
                os._exit(KILLED)
            return real(*args, **settings)

        return touch

    for name in TOUCHES:
        setattr(os, name, counted(getattr(os, name), lambda *_, **__: True))
    os.open = counted(os.open, lambda _, flags=0, *__, **___: bool(flags & (os.O_WRONLY | os.O_RDWR)))
    io.open = builtins.open = counted(builtins.open, lambda _, mode="r", *__, **___: set(mode) & set("wax+") != set())


def child(work: Callable[[], object], n: int | None) -> int:
    """Do the work in a child, killed at its n-th touch; give how it ended."""
    sys.stdout.flush()
    process = os.fork()
    if process == 0:
        try:
            if n is not None:
                dying_at(n)
            work()
            os._exit(0)
        except BaseException as fault:  # noqa: BLE001 - the child must never come back into the loop
            os.write(2, f"{type(fault).__name__}: {fault}\n".encode())
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def main() -> None:
    verb, project, scratch, first, step = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), *map(int, sys.argv[4:6])
    run = verb_of(verb)
    n = first
    while True:
        folder = Path(shutil.copytree(project, scratch / f"{verb}-{n}"))
        code = child(lambda folder=folder: run(folder), n)
        left = Path(shutil.copytree(folder, scratch / f"{verb}-{n}-left"))
        again = child(lambda folder=folder: run(folder), None)
        print(json.dumps({"n": n, "code": code, "left": str(left), "again": again, "folder": str(folder)}), flush=True)
        if code != KILLED:
            return
        n += step


if __name__ == "__main__":
    main()
