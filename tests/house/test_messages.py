"""Every sentence exists in both languages with the same fields, and every sentence asked for exists."""

from __future__ import annotations

import ast
import re
from string import Formatter

import jinja2
import pytest

from celosia import messages
from house.source import PACKAGE, Module, calls, modules

SPANISH, ENGLISH = messages.LANGUAGES
SPEAKERS = ("text", "has", "say")  # functions whose first argument is a key


def catalogue(language: str) -> dict[str, str]:
    """All sentences of a language under their full key."""
    return {
        f"{section}.{name}": sentence
        for section in messages.sections(language)
        for name, sentence in messages.section(language, section).items()
    }


def fields(sentence: str) -> set[str]:
    """Names of the fields of a sentence, without index or format."""
    return {re.split(r"[.\[]", name)[0] for _, name, _, _ in Formatter().parse(sentence) if name is not None}


def asked(module: Module) -> list[tuple[int, str, set[str] | None]]:
    """(line, key, fields given) of every `text("…")`; fields are None when they come through `**`."""
    found = []
    for name, call in calls(module.tree):
        if name in SPEAKERS and call.args:
            keys = [key for key in _choices(call.args[0]) if re.fullmatch(r"[a-z_]+(\.[a-z0-9_]+)+", key)]
            found += [(call.lineno, key, _given(call) if name != "has" else None) for key in keys]
    return found


def _choices(node: ast.expr) -> list[str]:
    """The texts an argument may be: itself, or either side of a condition."""
    if isinstance(node, ast.IfExp):
        return _choices(node.body) + _choices(node.orelse)
    return [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []


def _given(call: ast.Call) -> set[str] | None:
    if any(keyword.arg is None for keyword in call.keywords):
        return None
    return {str(keyword.arg) for keyword in call.keywords}


def prefixes(module: Module) -> list[tuple[int, str]]:
    """(line, fixed beginning) of every key put together as `text(f"section.{name}")`."""
    found = []
    for name, call in calls(module.tree):
        if name in SPEAKERS and call.args and isinstance(call.args[0], ast.JoinedStr):
            first = call.args[0].values[0]
            if isinstance(first, ast.Constant) and re.match(r"[a-z_]+\.", str(first.value)):
                found.append((call.lineno, str(first.value)))
    return found


def test_both_languages_have_the_same_sections() -> None:
    assert messages.sections(SPANISH) == messages.sections(ENGLISH) != ()


def test_both_languages_hold_the_same_keys() -> None:
    assert set(catalogue(SPANISH)) == set(catalogue(ENGLISH))


def test_both_languages_use_the_same_fields() -> None:
    english = catalogue(ENGLISH)
    differing = [
        key for key, sentence in catalogue(SPANISH).items() if fields(sentence) != fields(english.get(key, ""))
    ]
    assert differing == []


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_no_sentence_is_empty_or_padded(language: str) -> None:
    assert [
        key for key, sentence in catalogue(language).items() if not sentence or sentence != sentence.strip("\n")
    ] == []


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_what_a_command_does_is_a_sentence(language: str) -> None:
    spoken = [text for key, text in messages.section(language, "cli").items() if key.endswith((".short", ".help"))]
    assert len(spoken) > 50
    assert [text for text in spoken if not re.match(r"[«“A-ZÁÉÍÓÚÑ]|celosia |people\.toml ", text)] == []
    assert [text for text in spoken if not text.endswith((".", ")", "…"))] == []


def test_spanish_sentences_use_usted() -> None:
    # The forms of «tú» that slip in most easily when an instruction is written in a hurry.
    familiar = re.compile(r"\b(tu|tus|tú|puedes|debes|tienes|quieres|revisa tu|elige)\b", re.IGNORECASE)
    assert [key for key, sentence in catalogue(SPANISH).items() if familiar.search(sentence)] == []


def test_every_sentence_asked_for_exists() -> None:
    known = catalogue(SPANISH)
    faults = [
        f"{module.where}:{line} {key}" for module in modules() for line, key, _ in asked(module) if key not in known
    ]
    assert faults == []


def test_every_sentence_gets_all_its_fields() -> None:
    known = catalogue(SPANISH)
    faults = [
        f"{module.where}:{line} {key} needs {sorted(fields(known[key]))}"
        for module in modules()
        for line, key, given in asked(module)
        if given is not None and key in known and given != fields(known[key])
    ]
    assert faults == []


def test_every_key_put_together_has_a_family() -> None:
    known = catalogue(SPANISH)
    faults = [
        f"{module.where}:{line} {prefix}…"
        for module in modules()
        for line, prefix in prefixes(module)
        if not any(key.startswith(prefix) for key in known)
    ]
    assert faults == []


def _spoken_by_templates() -> list[tuple[str, str, set[str]]]:
    """(template, key, fields given) of every `t("…")` in a page template."""
    found = []
    for path in sorted(PACKAGE.rglob("*.j2")):
        for call in jinja2.Environment().parse(path.read_text("utf-8")).find_all(jinja2.nodes.Call):
            named = isinstance(call.node, jinja2.nodes.Name) and call.node.name == "t"
            if named and isinstance(call.args[0], jinja2.nodes.Const):
                found.append((path.name, call.args[0].value, {pair.key for pair in call.kwargs}))
    return found


def test_every_sentence_a_template_speaks_exists_with_its_fields() -> None:
    known = catalogue(SPANISH)
    spoken = _spoken_by_templates()
    assert spoken
    assert [each for each in spoken if each[1] not in known or fields(known[each[1]]) != each[2]] == []


def test_a_planted_missing_field_is_seen() -> None:
    tree = ast.parse('text("errors.file_missing", file="x")')
    planted = Module("celosia.cli.planted", modules()[0].path, tree)
    [(_, key, given)] = asked(planted)
    assert given != fields(catalogue(SPANISH)[key])
