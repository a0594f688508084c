"""Every error has its sentence with exactly its fields, and is raised with exactly its fields."""

from __future__ import annotations

import ast
import importlib
import pickle

import pytest

from celosia import messages
from celosia.errors import CelosiaError
from celosia.storage import FileMissing
from tests.architecture.catalogue import catalogue, fields
from tests.architecture.source_files import Module, calls, modules, planted_module


def family(root: type[CelosiaError] = CelosiaError) -> list[type[CelosiaError]]:
    """Every error below the root."""
    return [kind for child in root.__subclasses__() for kind in (child, *family(child))]


SHARED = ("celosia.errors", "celosia.storage", "celosia.model.value_errors")


def _import_error_modules() -> None:
    """Import every module that declares errors, so that the tree of classes is complete."""
    for module in modules():
        if module.name.endswith(".errors") or module.name in SHARED:
            importlib.import_module(module.name)


_import_error_modules()
ERRORS = {kind.__name__: kind for kind in family() if kind.__module__.startswith("celosia.")}


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_every_error_has_its_sentence_with_exactly_its_fields(language: str) -> None:
    known = catalogue(language)
    faults = [
        name
        for name, kind in ERRORS.items()
        if f"errors.{kind.code}" not in known or fields(known[f"errors.{kind.code}"]) != set(kind.fields)
    ]
    assert faults == []


def test_every_sentence_of_the_section_belongs_to_an_error() -> None:
    codes = {kind.code for kind in ERRORS.values()}
    assert {key.removeprefix("errors.") for key in catalogue("es") if key.startswith("errors.")} == codes


def test_codes_are_unique() -> None:
    codes = [kind.code for kind in ERRORS.values()]
    assert len(codes) == len(set(codes))


def test_every_error_says_what_it_means_and_how_the_program_ends() -> None:
    assert [name for name, kind in ERRORS.items() if not kind.__doc__ or kind.exit_code not in (1, 2, 3)] == []


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_arrives_whole_in_another_process(name: str) -> None:
    error = ERRORS[name](**dict.fromkeys(ERRORS[name].fields, "x"))
    arrived = pickle.loads(pickle.dumps(error))
    assert (type(arrived), arrived.values) == (type(error), error.values)


def test_each_package_declares_its_errors_in_its_errors_module() -> None:
    elsewhere = [
        f"{module.where}:{node.lineno} {node.name}"
        for module in modules()
        if module.name not in SHARED and not module.name.endswith(".errors")
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ClassDef) and any(ast.unparse(base) in ERRORS for base in node.bases)
    ]
    assert elsewhere == []


def wrong_raises(module: Module) -> list[str]:
    """Errors of ours built with other fields than they declare."""
    return [
        f"{module.where}:{call.lineno} {name} takes {sorted(ERRORS[name].fields)}"
        for name, call in calls(module.tree)
        if name in ERRORS and all(keyword.arg for keyword in call.keywords)
        if call.args or {keyword.arg for keyword in call.keywords} != set(ERRORS[name].fields)
    ]


def test_every_error_is_raised_with_exactly_its_fields() -> None:
    assert [fault for module in modules() for fault in wrong_raises(module)] == []


def test_a_wrongly_raised_error_is_seen() -> None:
    assert len(wrong_raises(planted_module("cli", "FileMissing(file=1)"))) == 1


def test_an_error_refuses_fields_it_does_not_declare() -> None:
    with pytest.raises(TypeError):
        FileMissing(file="a")


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_every_error_can_be_spoken(language: str) -> None:
    messages.use(language)
    for kind in ERRORS.values():
        sentence = str(kind(**dict.fromkeys(kind.fields, "x")))
        assert sentence
        assert "{" not in sentence


def chained_raises(module: Module) -> list[str]:
    """Raises inside `except` that would print the foreign error they replace."""
    return [
        f"{module.where}:{node.lineno}"
        for handler in ast.walk(module.tree)
        if isinstance(handler, ast.ExceptHandler)
        for node in ast.walk(handler)
        if isinstance(node, ast.Raise) and node.exc is not None and not _is_from_none(node)
    ]


def _is_from_none(node: ast.Raise) -> bool:
    return isinstance(node.cause, ast.Constant) and node.cause.value is None


def test_no_raise_is_chained_to_a_foreign_error() -> None:
    assert [fault for module in modules() for fault in chained_raises(module)] == []


def test_a_planted_chained_error_is_seen() -> None:
    code = "try:\n    f()\nexcept ValueError as why:\n    raise KeyError('x') from why"
    assert len(chained_raises(planted_module("data", code))) == 1
