"""Every sentence exists in both languages with the same fields, and every sentence asked for exists."""

from __future__ import annotations

import ast
import re

import jinja2
import pytest

from celosia import messages
from tests.architecture.catalogue import catalogue, fields
from tests.architecture.source_files import SOURCE, Module, calls, modules, planted_module

SPANISH, ENGLISH = messages.LANGUAGES
# Functions whose first argument is a key.
TAKE_A_KEY = ("text", "has", "say")


def requested_sentences(module: Module) -> list[tuple[int, str, set[str] | None]]:
    """(line, key, fields given) of every `text("…")`; fields are None when they come through `**`."""
    sentences = []
    for name, call in calls(module.tree):
        if name in TAKE_A_KEY and call.args:
            keys = [key for key in _choices(call.args[0]) if re.fullmatch(r"[a-z_]+(\.[a-z0-9_]+)+", key)]
            sentences += [(call.lineno, key, _given_fields(call) if name != "has" else None) for key in keys]
        if name == "labels" and call.args:
            keys = [key for arg in call.args[1:] for key in _choices(arg)]
            sections = _choices(call.args[0])
            sentences += [(call.lineno, f"{section}.{key}", set()) for section in sections for key in keys]
    return sentences


def _choices(node: ast.expr) -> list[str]:
    """The texts an argument may be: itself, or either side of a condition."""
    if isinstance(node, ast.IfExp):
        return _choices(node.body) + _choices(node.orelse)
    return [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []


def _given_fields(call: ast.Call) -> set[str] | None:
    if any(keyword.arg is None for keyword in call.keywords):
        return None
    return {str(keyword.arg) for keyword in call.keywords}


def prefixes(module: Module) -> list[tuple[int, str]]:
    """(line, fixed beginning) of every key put together as `text(f"section.{name}")`."""
    beginnings = []
    for name, call in calls(module.tree):
        if name in TAKE_A_KEY and call.args and isinstance(call.args[0], ast.JoinedStr):
            first = call.args[0].values[0]
            if isinstance(first, ast.Constant) and re.match(r"[a-z_]+\.", str(first.value)):
                beginnings.append((call.lineno, str(first.value)))
    return beginnings


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
    texts = [text for key, text in messages.section(language, "cli").items() if key.endswith((".short", ".help"))]
    assert len(texts) > 50
    assert [text for text in texts if not re.match(r"[«“A-ZÁÉÍÓÚÑ]|celosia |people\.toml ", text)] == []
    assert [text for text in texts if not text.endswith((".", ")", "…"))] == []


def test_spanish_sentences_use_usted() -> None:
    # The forms of «tú» that slip in most easily when an instruction is written in a hurry.
    familiar = re.compile(r"\b(tu|tus|tú|puedes|debes|tienes|quieres|revisa tu|elige)\b", re.IGNORECASE)
    assert [key for key, sentence in catalogue(SPANISH).items() if familiar.search(sentence)] == []


def test_every_sentence_asked_for_exists() -> None:
    known = catalogue(SPANISH)
    faults = [
        f"{module.where}:{line} {key}"
        for module in modules()
        for line, key, _ in requested_sentences(module)
        if key not in known
    ]
    assert faults == []


def test_every_sentence_gets_all_its_fields() -> None:
    known = catalogue(SPANISH)
    faults = [
        f"{module.where}:{line} {key} needs {sorted(fields(known[key]))}"
        for module in modules()
        for line, key, given in requested_sentences(module)
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


def _sentences_of_templates() -> list[tuple[str, str, set[str]]]:
    """(template, key, fields given) of every `t("…")` in a page template."""
    sentences = []
    for path in sorted(SOURCE.rglob("*.j2")):
        for call in jinja2.Environment().parse(path.read_text("utf-8")).find_all(jinja2.nodes.Call):
            named = isinstance(call.node, jinja2.nodes.Name) and call.node.name == "t"
            if named and isinstance(call.args[0], jinja2.nodes.Const):
                sentences.append((path.name, call.args[0].value, {pair.key for pair in call.kwargs}))
    return sentences


def test_every_sentence_of_a_template_exists_with_its_fields() -> None:
    known = catalogue(SPANISH)
    sentences = _sentences_of_templates()
    assert sentences
    faults = [(template, key) for template, key, given in sentences if fields(known.get(key, "")) != given]
    assert faults + [(template, key) for template, key, _ in sentences if key not in known] == []


def test_a_planted_missing_field_is_seen() -> None:
    module = planted_module("cli", 'text("errors.file_missing", file="x")')
    [(_, key, given)] = requested_sentences(module)
    assert given != fields(catalogue(SPANISH)[key])
