"""Every error has its sentence with exactly its fields, and is raised with exactly its fields."""

from __future__ import annotations

import ast

import pytest

from celosia import errors, messages
from celosia.errors import CelosiaError
from house.source import Module, calls, modules
from house.test_messages import catalogue, fields


def family(root: type[CelosiaError] = CelosiaError) -> list[type[CelosiaError]]:
    """Every error below the root."""
    return [found for child in root.__subclasses__() for found in (child, *family(child))]


ERRORS = {kind.__name__: kind for kind in family() if kind.__module__.startswith(errors.__name__)}


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


def test_errors_are_declared_in_one_place() -> None:
    elsewhere = [
        f"{module.where}:{node.lineno} {node.name}"
        for module in modules()
        if module.room != "errors"
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ClassDef) and any(ast.unparse(base) in ERRORS for base in node.bases)
    ]
    assert elsewhere == []


def wrongly_raised(module: Module) -> list[str]:
    """Errors of ours built with other fields than they declare."""
    return [
        f"{module.where}:{call.lineno} {name} takes {sorted(ERRORS[name].fields)}"
        for name, call in calls(module.tree)
        if name in ERRORS and all(keyword.arg for keyword in call.keywords)
        if call.args or {keyword.arg for keyword in call.keywords} != set(ERRORS[name].fields)
    ]


def test_every_error_is_raised_with_exactly_its_fields() -> None:
    assert [fault for module in modules() for fault in wrongly_raised(module)] == []


def test_a_wrongly_raised_error_is_seen() -> None:
    planted = Module("celosia.cli.planted", modules()[0].path, ast.parse("FileMissing(file=1)"))
    assert len(wrongly_raised(planted)) == 1


def test_an_error_refuses_fields_it_does_not_declare() -> None:
    with pytest.raises(TypeError):
        errors.FileMissing(file="a")


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_every_error_can_be_spoken(language: str) -> None:
    messages.use(language)
    for kind in ERRORS.values():
        said = str(kind(**dict.fromkeys(kind.fields, "x")))
        assert said
        assert "{" not in said


def raised_inside_except(module: Module) -> list[str]:
    """Raises inside `except` that would print the foreign error they replace."""
    found = []
    for handler in ast.walk(module.tree):
        if isinstance(handler, ast.ExceptHandler):
            found += [
                f"{module.where}:{node.lineno}"
                for node in ast.walk(handler)
                if isinstance(node, ast.Raise) and node.exc is not None and not _from_none(node)
            ]
    return found


def _from_none(node: ast.Raise) -> bool:
    return isinstance(node.cause, ast.Constant) and node.cause.value is None


def test_a_foreign_error_never_rides_along() -> None:
    assert [fault for module in modules() for fault in raised_inside_except(module)] == []


def test_a_planted_chained_error_is_seen() -> None:
    tree = ast.parse("try:\n    f()\nexcept ValueError as why:\n    raise KeyError('x') from why")
    assert len(raised_inside_except(Module("celosia.data.planted", modules()[0].path, tree))) == 1
