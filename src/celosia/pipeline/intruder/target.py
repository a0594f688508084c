"""What is attacked: the published file as everybody will see it and, in the institution, the original behind it.

Knows files, roles and the person of each row; for a project see `candidate_target`. Where no original is given, the
file judges itself, and the report says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from celosia.attacks.attack_input import AttackInput, View
from celosia.attacks.compatible import AnyHierarchy, compatible
from celosia.model.variables import Role, Scale, Variable
from celosia.pipeline.intake.open_table import OpenTable, open_table
from celosia.pipeline.intruder.arrays import (
    build_attack_input,
    build_self_attack_input,
    select_columns,
    view_of,
    with_persons,
)
from celosia.pipeline.intruder.errors import NothingShared
from celosia.pipeline.project.progress import Progress
from celosia.techniques.errors import SensitiveIsQuasi

# The share of rows that must be compatible for two files to be the same rows in the same order.
_MOST_ROWS = 0.99


@dataclass(frozen=True, slots=True)
class NamedRoles:
    """The roles that the caller names; the others are suggested, or those of the plan."""

    quasi: Sequence[str] = ()
    sensitive: Sequence[str] = ()
    person: str | None = None
    household: str | None = None


@dataclass(frozen=True)
class AttackTarget:
    """A published file, its roles, and what the institution knows about it."""

    digest: str
    view: View  # every published column
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    person: str | None = None  # the column that tells persons apart, published or not
    keys: tuple[str, ...] = ()  # the text behind each person ordinal, for judging a list that has it
    truth: View | None = None  # the original, row by row
    judge: View | None = None  # the original in another order, or with other rows
    hierarchies: Mapping[str, AnyHierarchy] = field(default_factory=dict)
    unknown: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    household: str | None = None

    @property
    def original(self) -> View | None:
        """The records that judge the attacks, where there are any besides the file."""
        return self.judge if self.judge is not None else self.truth

    @property
    def persons(self) -> int | None:
        """How many people the file is about, where persons are identified."""
        return None if self.view.persons is None else len(np.unique(self.view.persons))

    def shared_columns(self, names: Sequence[str], held_out: View | None) -> tuple[str, ...]:
        """Those of the columns that every file at hand has."""
        files = [view for view in (self.view, self.original, held_out) if view is not None]
        return tuple(name for name in names if all(name in view.names for view in files))

    def attack_input(self, names: Sequence[str], held_out: View | None, veiled: Sequence[str] = ()) -> AttackInput:
        """The input of the three risks over some columns; `veiled` are those whose masks were never seen as values."""
        if self.original is None and held_out is None:
            return build_self_attack_input(self.view, names, veiled)
        released, original = self.view, self.original if self.original is not None else self.view
        if self.judge is None and released.persons is None:
            # The rows are the same, so that the row is the person.
            rows = np.arange(released.rows)
            released, original = with_persons(released, rows), with_persons(original, rows)
        return build_attack_input(released, original, held_out, names, self.hierarchies)


def file_target(
    target: Any, original: Any, roles: NamedRoles, report: Progress, reading: Mapping[str, Any]
) -> AttackTarget:
    """A file alone: roles as named, else as the file suggests them."""
    with open_table(target, report, **reading) as data:
        quasi, sensitive = _quasi_and_sensitive(data, roles)
        # An original may have a person key that is not published.
        key = data.person_key(roles.person) if original is None else roles.person or data.person
        view = view_of(data.table, data.table.names)
        file = AttackTarget(
            digest=data.source.digest,
            view=view,
            quasi=quasi,
            sensitive=sensitive,
            person=key,
            unknown=unknown_codes(data.variables),
            notes=() if roles.quasi else ("roles_guessed",),
            household=roles.household,
        )
    if key in view.names:
        position = view.column_index(str(key))
        file = replace(file, view=with_persons(view, view.codes[:, position]), keys=view.labels[position])
    if original is None:
        return replace(file, notes=(*file.notes, "judged_by_itself"))
    return _add_original(file, original, report)


def _quasi_and_sensitive(data: OpenTable, roles: NamedRoles) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Quasi-identifiers and sensitive variables: those named, or those suggested."""
    schema = data.table.schema
    for name in (*roles.quasi, *roles.sensitive, *([roles.household] if roles.household else [])):
        schema.position(name)
    for name in roles.sensitive:
        if name in roles.quasi:
            raise SensitiveIsQuasi(variable=name)
    excluded = {roles.person or data.person, roles.household}
    suggested = [v for v in data.variables if v.scale != Scale.FREE_TEXT and v.name not in excluded]
    quasi = tuple(v.name for v in suggested if v.role == Role.QUASI)
    if roles.quasi:
        quasi = schema.checked_names(roles.quasi, "--quasi")
    sensitive = tuple(v.name for v in suggested if v.role == Role.SENSITIVE and v.name not in quasi)
    if roles.sensitive:
        sensitive = tuple(roles.sensitive)
    return tuple(name for name in quasi if name not in sensitive), sensitive


def unknown_codes(variables: Sequence[Variable]) -> dict[str, tuple[str, ...]]:
    """The declared codes of unknown of each variable."""
    return {variable.name: variable.unknown for variable in variables if variable.unknown}


def _add_original(target: AttackTarget, original: Any, report: Progress) -> AttackTarget:
    """The file beside its original: row by row where the rows are compatible, else only as a judge."""
    with open_table(original, report, described=False) as data:
        if target.person is not None and target.person not in target.view.names:
            data.table.schema.position(target.person)
        names = tuple(name for name in data.table.names if name in target.view.names or name == target.person)
        shared = tuple(name for name in target.view.names if name in names)
        if not shared:
            raise NothingShared(file=data.source.name, names=", ".join(target.quasi or target.view.names))
        full = view_of(data.table, names)
    if not set(target.quasi) & set(shared):
        return replace(target, notes=(*target.notes, "original_unrelated", "judged_by_itself"))
    truth = select_columns(full, shared)
    if same_rows(target.view, truth, target.hierarchies):
        persons, keys = target.view.persons, target.keys
        if target.person in names:
            position = full.column_index(str(target.person))
            persons, keys = full.codes[:, position], full.labels[position]
        view = with_persons(target.view, persons)
        return replace(target, truth=with_persons(truth, persons), view=view, keys=keys)
    judge, keys = _copy_ordinals(target, full, shared)
    return replace(target, judge=judge, keys=keys, notes=(*target.notes, "original_not_row_by_row"))


def _copy_ordinals(target: AttackTarget, full: View, shared: Sequence[str]) -> tuple[View, tuple[str, ...]]:
    """The original with the person ordinals of the file; new people after them."""
    view = select_columns(full, shared)
    if target.person is None or target.person not in full.names or not target.keys:
        return view, ()
    ordinal_by_key = {key: ordinal for ordinal, key in enumerate(target.keys)}
    position = full.column_index(target.person)
    ordinals = [ordinal_by_key.setdefault(key, len(ordinal_by_key)) for key in full.labels[position]]
    return with_persons(view, np.array(ordinals, np.int64)[full.codes[:, position]]), tuple(ordinal_by_key)


def same_rows(published: View, original: View, hierarchies: Mapping[str, AnyHierarchy]) -> bool:
    """Whether row for row every published label may stand for the original value."""
    if published.rows != original.rows:
        return False
    return all(_is_compatible_column(published, original, name, hierarchies.get(name)) for name in original.names)


def _is_compatible_column(published: View, original: View, name: str, hierarchy: AnyHierarchy | None) -> bool:
    """Whether nearly every row has a published label that covers its original value."""
    label, value = published.column_index(name), original.column_index(name)
    width = max(len(original.labels[value]), 1)
    pairs, rows = np.unique(published.codes[:, label] * width + original.codes[:, value], return_counts=True)
    covers = compatible(published.labels[label], original.labels[value], hierarchy)
    compatible_pairs = np.repeat(np.arange(covers.shape[0]), np.diff(covers.indptr)) * width + covers.indices
    return bool(rows[np.isin(pairs, compatible_pairs)].sum() >= _MOST_ROWS * rows.sum())
