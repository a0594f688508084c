"""Short functions, files of a readable length, folders of a surveyable size, names that say something."""

from __future__ import annotations

import ast
import re
from collections import Counter
from statistics import median

from tests.architecture.source_files import REPOSITORY, functions, modules

LONGEST_FUNCTION, LONGEST_FILE, LARGEST_FOLDER = 60, 500, 25
# One module for each technique that a norm names.
UNBOUNDED_FOLDERS = {"src/celosia/techniques"}
EMPTY_NAMES = re.compile(r"(^|_)(utils?|helpers?|managers?|misc)($|_)", re.IGNORECASE)


def _length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def test_no_function_is_longer_than_sixty_lines() -> None:
    long = [
        f"{module.where}:{node.lineno} {node.name} has {_length(node)} lines"
        for module in modules()
        for node in functions(module.tree)
        if _length(node) > LONGEST_FUNCTION
    ]
    assert long == []


def test_half_of_the_functions_fit_in_ten_lines() -> None:
    assert median(_length(node) for module in modules() for node in functions(module.tree)) <= 10


def test_no_file_is_longer_than_five_hundred_lines() -> None:
    long = [m.where for m in modules() if len(m.path.read_text("utf-8").splitlines()) > LONGEST_FILE]
    assert long == []


def test_no_folder_has_more_than_twenty_five_modules() -> None:
    sizes = Counter(module.path.parent for module in modules() if module.path.name != "__init__.py")
    folders = {folder.relative_to(REPOSITORY).as_posix(): count for folder, count in sizes.items()}
    large = {where: count for where, count in folders.items() if count > LARGEST_FOLDER}
    assert {where: count for where, count in large.items() if where not in UNBOUNDED_FOLDERS} == {}


def test_no_module_function_or_class_has_an_empty_name() -> None:
    named = [(module.where, module.path.stem) for module in modules()]
    named += [
        (f"{module.where}:{node.lineno}", node.name)
        for module in modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    ]
    words = [(where, re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)) for where, name in named]
    assert [f"{where} {name}" for where, name in words if EMPTY_NAMES.search(name)] == []


def test_every_module_says_what_it_knows() -> None:
    silent = [m.where for m in modules() if len(ast.get_docstring(m.tree) or "") < 20]
    assert silent == []


def test_no_broad_except_swallows_everything() -> None:
    broad = [
        f"{module.where}:{node.lineno}"
        for module in modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ExceptHandler)
        if node.type is None or ast.unparse(node.type) in ("Exception", "BaseException")
        if not any(isinstance(inner, ast.Raise | ast.Return) for inner in ast.walk(node))
    ]
    assert broad == []
