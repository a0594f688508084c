"""The hierarchies that a caller hands over: descriptions, names of official lists, tables with a column per level.

Knows how each becomes what celosia.toml says of a hierarchy. Ignores the values of the data, but for the borders of
intervals. A table is kept in memory under the name of the file that a saved project has it in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from celosia.data.engines.lazy import LazyEngine
from celosia.data.frame_table import code_frame
from celosia.data.readers.canonical import cell_text
from celosia.data.table import Table
from celosia.hierarchy.csv import checked_hierarchy, read_csv
from celosia.hierarchy.descriptions import official
from celosia.hierarchy.model import Hierarchy
from celosia.hierarchy.official import LISTS
from celosia.model.variables import Variable
from celosia.pipeline.intake.proposed_hierarchies import complete_description, default_spec
from celosia.pipeline.planning.errors import HierarchyNotUnderstood
from celosia.pipeline.planning.hierarchy_files import hierarchy_file_name

_FOLDER = "hierarchies"
Description = dict[str, Any]


@dataclass(frozen=True, slots=True)
class GivenHierarchies:
    """What celosia.toml would say of each hierarchy, and the tables by the name of their file."""

    descriptions: Mapping[str, Description]
    tables: Mapping[str, Hierarchy] = field(default_factory=dict)


def read_given_hierarchies(
    given: Mapping[str, Any], table: Table, variables: Mapping[str, Variable]
) -> GivenHierarchies:
    """Each hierarchy as a description; intervals get the borders that the values of their column need."""
    descriptions: dict[str, Description] = {}
    tables: dict[str, Hierarchy] = {}
    for name, hierarchy in given.items():
        table.schema.position(name)
        made = _read_hierarchy(name, hierarchy)
        if isinstance(made, Hierarchy):
            file = _free_name(name, tables)
            tables[file] = made
            descriptions[name] = {"file": file}
        elif made.get("builder") == "intervals":
            vocabulary = table.frequencies(name).values.to_pylist()
            descriptions[name] = complete_description(made, vocabulary, variables[name].unknown)
        else:
            descriptions[name] = made
    return GivenHierarchies({name: _toml_value(spec) for name, spec in descriptions.items()}, tables)


def proposed_descriptions(
    names: Sequence[str], table: Table, variables: Mapping[str, Variable]
) -> dict[str, Description]:
    """What is proposed for quasi-identifiers whose hierarchy nobody gave, from their scale and values."""
    return {name: default_spec(variables[name], table.frequencies(name).values.to_pylist()) for name in names}


def _read_hierarchy(name: str, given: Any) -> Description | Hierarchy:
    if isinstance(given, str) and given in LISTS:
        return official(given)  # type: ignore[arg-type]
    if isinstance(given, Path):
        return read_csv(given, name)[0]
    if isinstance(given, Mapping):
        return _hierarchy_from_mapping(name, given)
    if hasattr(given, "__arrow_c_stream__") or hasattr(given, "collect"):
        coded = code_frame(given, LazyEngine()).table
        columns = [coded.column(level).row_texts().to_pylist() for level in coded.names]
        return _hierarchy_from_columns(name, columns)
    raise HierarchyNotUnderstood(variable=name, known=", ".join(LISTS))


def _hierarchy_from_mapping(name: str, given: Mapping[Any, Any]) -> Description | Hierarchy:
    """A description; the columns of the levels by their number; or the labels of each value."""
    if "builder" in given or "file" in given:
        return {str(key): value for key, value in given.items()}
    if given and all(isinstance(key, int) for key in given) and list(given) == list(range(len(given))):
        levels = [[_text(cell) for cell in column] for column in given.values() if not isinstance(column, str)]
        if len(levels) == len(given) and len({len(level) for level in levels}) == 1:
            return _hierarchy_from_columns(name, levels)
    rows = [(_text(value), *_labels(labels)) for value, labels in given.items()]
    if not rows or len({len(row) for row in rows}) > 1:
        raise HierarchyNotUnderstood(variable=name, known=", ".join(LISTS))
    return checked_hierarchy(name, rows, name)


def _labels(labels: Any) -> tuple[str, ...]:
    return (labels,) if isinstance(labels, str) else tuple(_text(label) for label in labels)


def _hierarchy_from_columns(name: str, columns: Sequence[Sequence[str]]) -> Hierarchy:
    return checked_hierarchy(name, list(zip(*columns, strict=True)), name)


def _text(value: object) -> str:
    return cell_text(value.item() if hasattr(value, "item") else value) or ""


def _free_name(variable: str, taken: Mapping[str, Hierarchy]) -> str:
    name, number = f"{_FOLDER}/{hierarchy_file_name(variable)}", 2
    while name in taken:
        name, number = f"{_FOLDER}/{number}-{hierarchy_file_name(variable)}", number + 1
    return name


def _toml_value(value: Any) -> Any:
    """A description as TOML and JSON hold it: lists, whole numbers, decimals as numbers."""
    if isinstance(value, Mapping):
        return {str(key): _toml_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_toml_value(item) for item in value]
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return value.item() if hasattr(value, "item") else value
