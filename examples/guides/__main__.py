"""The guides of the norms, written from a real walk: `python -m examples.guides`.

A template `NORM.LANGUAGE.md` holds the prose. A line `@@ words` stands for the first command of the walk that holds
those words (`#2` the second, `#-1` the last); the lines `+ pattern` after it say which lines of its answer are shown.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from examples.walker import Answer, walk

HERE = Path(__file__).resolve().parent
DOCS = HERE.parents[1] / "docs"
NORMS, LANGUAGES = ("minsal", "atenea", "mel", "yapo"), ("es", "en")
_ASKED = re.compile(r"@@ (?P<words>.*?)(?: #(?P<place>-?\d+))?")
_BORDER = ("┏", "┡", "├", "└")


def main(norms: Sequence[str]) -> None:
    """Write the guides of the norms given, or all of them."""
    for norm in norms or NORMS:
        for language in LANGUAGES:
            page = DOCS / language / f"guide-{norm}.md"
            template = (HERE / f"{norm}.{language}.md").read_text("utf-8")
            page.write_text(filled(template, answers_of(norm, language)), "utf-8")
            print(page)


def answers_of(norm: str, language: str) -> list[Answer]:
    """What the commands of a norm's walk answer in a language."""
    steps = importlib.import_module(f"examples.{norm}.walk").STEPS
    os.environ["CELOSIA_LANG"] = language
    with tempfile.TemporaryDirectory() as folder:
        importlib.import_module(f"examples.{norm}.make_data").make_data(Path(folder))
        return [one for one in walk(steps, Path(folder)) if one.line.startswith("celosia ")]


def filled(template: str, answers: Sequence[Answer]) -> str:
    """The page: its prose, and in each block the commands with the lines asked for."""
    page: list[str] = []
    block: list[str] = []
    lines = [*template.splitlines(), ""]
    for number, line in enumerate(lines):
        asked = _ASKED.fullmatch(line)
        if asked:
            patterns = _patterns(lines[number + 1 :])
            block += shown(_chosen(answers, asked["words"], int(asked["place"] or 1)), patterns)
        elif not line.startswith("+ "):
            page += ["```text", *block, "```"] * bool(block) + [line]
            block = []
    return "\n".join(page)


def shown(answer: Answer, patterns: Sequence[str]) -> list[str]:
    """A command and those lines of its answer that a pattern finds; `…` where lines are left out between them."""
    lines = [line.rstrip() for line in answer.printed.splitlines()]
    lines = [line for line in lines if line and not line.startswith(_BORDER)]
    unused = [pattern for pattern in patterns if not any(re.search(pattern, line) for line in lines)]
    if unused:
        raise RuntimeError(f"{answer.line}: {unused}")
    told, last = [f"$ {answer.line}"], -1
    for place, line in enumerate(lines):
        if any(re.search(pattern, line) for pattern in patterns):
            told += ["…"] * (0 <= last < place - 1) + [line]
            last = place
    return told


def _patterns(lines: Sequence[str]) -> list[str]:
    """The patterns right after a command."""
    end = next((i for i, line in enumerate(lines) if not line.startswith("+ ")), len(lines))
    return [line.removeprefix("+ ") for line in lines[:end]]


def _chosen(answers: Sequence[Answer], words: str, place: int) -> Answer:
    found = [one for one in answers if words in one.line]
    return found[place - 1 if place > 0 else place]


if __name__ == "__main__":
    main(sys.argv[1:])
