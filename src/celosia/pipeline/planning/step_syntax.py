"""Steps as people write them: in TOML, or as words on the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

from celosia.data.sheets import read_rows
from celosia.model.errors import NothingChosen
from celosia.model.parameters import Many, NotAccepted, Parameter, TomlTable, wrong_parameter
from celosia.pipeline.project.arguments import PathArg
from celosia.pipeline.project.files import read_toml
from celosia.techniques import read_step, technique

_FILES = ("areas", "mapping")  # parameters that name a file


def read_steps(path: PathArg) -> tuple[Mapping[str, Any], ...]:
    """The steps of a TOML file with [[steps]]; the files they name are found from its folder."""
    folder = Path(path).parent
    steps = tuple(with_paths(plain_step(step), folder) for step in read_toml(Path(path)).get("steps", ()))
    if not steps:
        raise NothingChosen(option="steps")
    return steps


def plain_step(step: Mapping[str, Any]) -> dict[str, Any]:
    """A step as JSON can hold it: TOML's dates become text."""
    return {key: _toml_value(value) for key, value in step.items()}


def with_paths(step: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """A step whose files are found from a folder, wherever the command is given."""
    placed = {key: str(folder / str(value)) if key in _FILES else value for key, value in step.items()}
    hierarchy = placed.get("hierarchy")
    if isinstance(hierarchy, Mapping) and "file" in hierarchy:
        placed["hierarchy"] = {**hierarchy, "file": str(folder / str(hierarchy["file"]))}
    return placed


def step_from(name: str, words: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """A step from what the command line says: each text read as its parameter's kind asks."""
    chosen = technique(name)
    step: dict[str, Any] = {"technique": chosen.name}
    for key, text in words:
        plain = key.replace("-", "_")
        param = chosen.params.get(plain)
        value = text if param is None else _value_from_text(chosen.name, plain, param, text)
        again = isinstance(param, Many) and plain in step
        step[plain] = [*step[plain], *value] if again else value  # --columns A --columns B
    read_step(step)
    return step


def _value_from_text(owner: str, key: str, param: Parameter, text: str) -> Any:
    """A parameter written on the command line; a table is a TOML or CSV file of two columns."""
    try:
        return _table_from(Path(text), key) if isinstance(param, TomlTable) else param.from_text(text)
    except NotAccepted:
        raise wrong_parameter(owner, key, param) from None


def _table_from(path: Path, key: str) -> Any:
    if path.suffix == ".toml":
        document = read_toml(path)
        return document.get(key, document)
    return {row[0]: row[1] for row in read_rows(path)[1:] if len(row) > 1}


def _toml_value(value: Any) -> Any:
    if isinstance(value, date | datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {key: _toml_value(inner) for key, inner in value.items()}
    return [_toml_value(inner) for inner in value] if isinstance(value, list | tuple) else value
