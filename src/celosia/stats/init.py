"""A first stats.toml, proposed from the names and types of the columns of PERSONAL; no value is looked at.

Knows what a name says about a column (the detectors of the dictionary). The proposal is for a person to finish: what
it cannot place is written as a comment, and the run will stop until somebody decides.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomlkit

from celosia import messages
from celosia.model.variables import Role
from celosia.proposals.facts import ColumnFacts
from celosia.proposals.propose import suggest
from celosia.stats.declaration.declaration import DEFAULT_AUDIENCES, STATS_FILE, STATS_FORMAT, Personal
from celosia.stats.project import PathArg
from celosia.stats.sources.connections import PersonalSource, open_source
from celosia.storage import AlreadyExists, atomic_write, translate_write_errors

# A word of a column's name, and the rule that it calls for; the first that fits is proposed.
_WORDS = (
    (r"birth|nacim|\bedad\b|\bage\b", "age"),
    (r"gender|genero|género|sexo|\bsex\b", "gender"),
    (r"city|ciudad|distrito|district|comuna|municip|localidad", "region"),
    (r"zone|zona|barrio|territor", "zone"),
    (r"amount|monto|salar|sueldo|price|precio|ingreso|importe|valor", "buckets"),
    (r"institu|escuela|colegio|universi", "map"),
    (r"\byear\b|\baño\b|\banio\b|finished|egreso", "span"),
)
_PEOPLE = ("user_id", "person_id", "id_persona", "persona_id", "usuario_id", "id_usuario", "rut", "run", "cedula")
_CHANGED = ("updated_at", "modified_at", "actualizado", "fecha_actualizacion")
_NAMED_LIKE = re.compile(r"company|empresa|empleador|_id$|^id_|certific|title$|cargo|document|cedula|\bruc\b|\bdni\b")
_AS = {"region": "map"}  # proposals that are a rule with settings of their own
_LONGEST = 40  # of a table's name: the audience comes after it
_TOGETHER = 2  # dimensions of a proposed table: more of them leave few people in a cell
_MAPS = {
    "region": {"list": "py"},
    "instituciones": {"file": "mapas/instituciones.csv"},
    "zonas": {"file": "mapas/zonas.csv"},
}
_SETTINGS: dict[str, dict[str, Any]] = {
    "age": {"at": "run", "bands": [18, 25, 35, 45]},
    "gender": {"values": {"F": "female", "M": "male"}},
    "region": {"map": "region"},
    "map": {"map": "instituciones"},
    "zone": {"map": "zonas", "minimum": 1000},
    "buckets": {"borders": [0, 100, 500, 1000]},
    "period": {"by": "month"},
    "span": {"years": 5},
    "category": {"values": ["?"]},
}


@dataclass(frozen=True, slots=True)
class _Block:
    """A PERSONAL table and what is proposed for its columns."""

    table: str
    person: str | None
    drop: tuple[str, ...]
    changed: str | None
    rules: tuple[tuple[str, str], ...]  # column, rule


def init_stats(folder: PathArg, source: str, target: str = "stats.duckdb") -> Path:
    """Write a commented stats.toml into a folder, made if absent; one that is there is left alone."""
    home = Path(folder)
    path = home / STATS_FILE
    if path.exists():
        raise AlreadyExists(path=str(path))
    with translate_write_errors(home):
        home.mkdir(parents=True, exist_ok=True)
    with contextlib.closing(open_source(source, home)) as opened:
        blocks = [_block(opened, table) for table in opened.tables()]
    with atomic_write(path, 0o644) as draft:
        draft.write_text(_document(source, target, blocks), "utf-8", newline="\n")
    return path


def _block(source: PersonalSource, table: str) -> _Block:
    columns = source.columns(Personal(table, "", table=table))
    names = [name for name, _ in columns]
    person = next((name for known in _PEOPLE for name in names if name.lower() == known), None)
    changed = next((name for known in _CHANGED for name in names if name.lower() == known), None)
    placed = {name: _rule(name, kind) for name, kind in columns if name not in (person, changed)}
    return _Block(
        table,
        person,
        tuple(name for name, rule in placed.items() if rule is None),
        changed,
        tuple((name, rule) for name, rule in placed.items() if rule is not None),
    )


def _rule(name: str, kind: str) -> str | None:
    """The rule for a column, by its name and type; None for one that should not leave PERSONAL."""
    words = name.lower().replace("_", " ")
    if suggest([ColumnFacts.of(name, ())])[0].role == Role.IDENTIFIER or _NAMED_LIKE.search(name.lower()):
        return None
    rule = next((rule for pattern, rule in _WORDS if re.search(pattern, words)), None)
    if rule is None and (kind == "date" or kind.startswith("timestamp") or re.search(r"fecha|date| at$", words)):
        return "period"
    return rule or ("buckets" if kind.startswith(("float", "decimal")) else "category")


def _document(source: str, target: str, blocks: Sequence[_Block]) -> str:
    document = tomlkit.document()
    document.add(tomlkit.comment(messages.text("stats.toml.opening")))
    document["format"] = STATS_FORMAT
    document["title"] = ""
    for name, section in _sections(source, target, blocks):
        document.add(tomlkit.nl())
        document.add(tomlkit.comment(messages.text(f"stats.toml.{name}")))
        document[{"zone": "time"}.get(name, name)] = section
    return tomlkit.dumps(document)


def _sections(source: str, target: str, blocks: Sequence[_Block]) -> list[tuple[str, Any]]:
    used = {name: value_map for name, value_map in _MAPS.items() if name in _maps_used(blocks)}
    return [
        ("source", {"url": source}),
        ("target", {"url": target}),
        ("zone", {"zone": "America/Asuncion"}),
        ("audiences", dict(DEFAULT_AUDIENCES)),
        *([("maps", used)] if used else []),
        ("personal", {_plain_name(block.table): _personal(block) for block in blocks}),
        ("tables", _tables(blocks)),
    ]


def _maps_used(blocks: Sequence[_Block]) -> set[str]:
    return {str(_SETTINGS[rule].get("map")) for block in blocks for _, rule in block.rules}


def _personal(block: _Block) -> dict[str, Any]:
    settings: dict[str, Any] = {"table": block.table, "person": block.person or "?", "drop": list(block.drop)}
    return settings | ({"changed": block.changed} if block.changed else {})


def _tables(blocks: Sequence[_Block]) -> Any:
    """Tables of two dimensions each, until every column has its place."""
    tables = tomlkit.aot()
    for block in blocks:
        for start in range(0, len(block.rules), _TOGETHER):
            tables.append(_table(block, block.rules[start : start + _TOGETHER]))
    return tables


def _table(block: _Block, rules: Sequence[tuple[str, str]]) -> Any:
    name = _plain_name(block.table)
    table = tomlkit.table()
    table["name"] = "_".join([name, "por", *(_plain_name(column) for column, _ in rules)])[:_LONGEST]
    for key, value in {"title": "", "from": name, "frequency": "daily"}.items():
        table[key] = value
    dimensions, measures = tomlkit.aot(), tomlkit.aot()
    for column, rule in rules:
        dimensions.append(_dimension(column, rule))
    measures.append(tomlkit.item({"name": "personas", "kind": "persons"}))
    table["dimensions"], table["measures"] = dimensions, measures
    return table


def _dimension(column: str, rule: str) -> Any:
    dimension = tomlkit.table()
    for key, value in {
        "name": _plain_name(column),
        "column": column,
        "rule": _AS.get(rule, rule),
        **_SETTINGS[rule],
    }.items():
        dimension[key] = value
    return dimension


def _plain_name(name: str) -> str:
    """A name that every database takes as it is."""
    words = re.sub(r"[^a-z0-9_]+", "_", name.rpartition(".")[2].lower()).strip("_")
    return words if words[:1].isalpha() else f"t_{words}"
