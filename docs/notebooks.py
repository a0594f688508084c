"""The tutorial of the Python library: a notebook per language, executed here, and the page that shows it.

    python docs/notebooks.py    executes examples/notebooks/*.ipynb and keeps what each cell shows

Knows the format of notebooks (nbformat 4). Needs no Jupyter: a cell is executed, and its last expression shown as a
notebook would show it. A test executes them again and compares; `docs/generate.py` makes the page of what is kept.
"""

from __future__ import annotations

import ast
import contextlib
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[1]
FOLDER = REPOSITORY / "examples" / "notebooks"
KINDS = {"image/svg+xml": "_repr_svg_", "text/html": "_repr_html_"}


def notebook_file(language: str) -> Path:
    """The notebook of a language."""
    return FOLDER / f"anonymise.{language}.ipynb"


def read_notebook(language: str) -> dict[str, Any]:
    """A notebook as it is kept."""
    return dict(json.loads(notebook_file(language).read_text("utf-8")))


def executed(notebook: dict[str, Any]) -> dict[str, Any]:
    """The notebook with what its cells show now; its files go to a folder that vanishes."""
    names: dict[str, Any] = {}
    with _own_folder():
        cells = [_executed_cell(cell, names) for cell in notebook["cells"]]
    return {**notebook, "cells": cells}


@contextlib.contextmanager
def _own_folder() -> Iterator[None]:
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def _executed_cell(cell: dict[str, Any], names: dict[str, Any]) -> dict[str, Any]:
    if cell["cell_type"] != "code":
        return cell
    tree = ast.parse("".join(cell["source"]))
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    value = None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    shown = [] if value is None else [_output(value)]
    return {**cell, "outputs": shown}


def _output(value: Any) -> dict[str, Any]:
    """What a notebook shows of a value: a picture or a table where it has one, and its text."""
    data = {"text/plain": repr(value)}
    for kind, method in KINDS.items():
        if hasattr(value, method):
            data[kind] = getattr(value, method)()
    return {"output_type": "display_data", "metadata": {}, "data": data}


def page_lines(language: str) -> tuple[list[str], dict[str, str]]:
    """The page of a notebook, and its pictures by the name of their file."""
    lines: list[str] = []
    pictures: dict[str, str] = {}
    for cell in read_notebook(language)["cells"]:
        source = "".join(cell["source"]).strip()
        if cell["cell_type"] == "markdown":
            lines += [source, ""]
            continue
        lines += ["```python", source, "```", ""]
        for output in cell["outputs"]:
            lines += _shown_lines(output["data"], pictures)
    return lines, pictures


def _shown_lines(data: dict[str, str], pictures: dict[str, str]) -> list[str]:
    if "image/svg+xml" in data:
        name = f"tutorial-{len(pictures) + 1}.svg"
        pictures[name] = data["image/svg+xml"]
        return [f"![{data['text/plain'].strip('<>')}](pictures/{name})", ""]
    if "text/html" in data:
        return [" ".join(line.strip() for line in data["text/html"].splitlines()), ""]
    return ["```text", data["text/plain"], "```", ""]


def main() -> int:
    """Execute every notebook and keep what it shows."""
    for path in sorted(FOLDER.glob("*.ipynb")):
        notebook = executed(json.loads(path.read_text("utf-8")))
        path.write_text(json.dumps(notebook, ensure_ascii=False, indent=1) + "\n", "utf-8")
        print(path.relative_to(REPOSITORY))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
