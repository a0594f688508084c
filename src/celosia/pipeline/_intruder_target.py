"""What is attacked: the published file as everybody will see it and, in the house, the original behind it.

Knows files, roles and whose row each one is. A project is `_intruder_project`. Where no original is given, the file
judges itself, and the report says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.attacks import AnyHierarchy, Scene, View, compatible
from celosia.errors import NothingShared, SensitiveIsQuasi
from celosia.model.variables import Role, Scale, Variable
from celosia.pipeline._intruder_arrays import itself, picked, scene_of, view_of, with_persons
from celosia.pipeline._open import Opened, opened
from celosia.pipeline._progress import Progress

Codes = NDArray[np.int64]
_MOST_ROWS = 0.99  # rows that must go together for two files to be the same rows in the same order


@dataclass(frozen=True)
class Attacked:
    """A published file, its roles, and what the house knows about it."""

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
        """How many people the file is about, where they can be told apart."""
        return None if self.view.persons is None else len(np.unique(self.view.persons))

    def known(self, names: Sequence[str], held_out: View | None) -> tuple[str, ...]:
        """Those of the columns that every file at hand has."""
        files = [view for view in (self.view, self.original, held_out) if view is not None]
        return tuple(name for name in names if all(name in view.names for view in files))

    def scene(self, names: Sequence[str], held_out: View | None, veiled: Sequence[str] = ()) -> Scene:
        """The stage of the three risks over some columns; `veiled` are those whose masks were never seen as values."""
        if self.original is None and held_out is None:
            return itself(self.view, names, veiled)
        released, original = self.view, self.original if self.original is not None else self.view
        if self.judge is None and released.persons is None:  # the same rows: the row is the person
            rows = np.arange(released.rows)
            released, original = with_persons(released, rows), with_persons(original, rows)
        return scene_of(released, original, held_out, names, self.hierarchies)


def file_target(
    target: Any,
    original: Any = None,
    *,
    quasi: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    person: str | None = None,
    household: str | None = None,
    report: Progress = None,
    reading: Mapping[str, Any],
) -> Attacked:
    """A file alone: roles as named, else as the file suggests them."""
    with opened(target, report, **reading) as found:
        roles = _roles(found, quasi, sensitive, person, household)
        key = person or found.person
        if original is None and key is not None:  # the original may have a key that is not published
            found.table.schema.position(key)
        view = view_of(found.table, found.table.names)
        made = Attacked(
            digest=found.source.digest,
            view=view,
            quasi=roles[0],
            sensitive=roles[1],
            person=key,
            unknown={variable.name: variable.unknown for variable in found.variables if variable.unknown},
            notes=() if quasi else ("roles_guessed",),
            household=household,
        )
    if key in view.names:
        place = view.place(str(key))
        made = replace(made, view=with_persons(view, view.codes[:, place]), keys=view.labels[place])
    if original is None:
        return replace(made, notes=(*made.notes, "judged_by_itself"))
    return _judged_by(made, original, report)


def _roles(
    found: Opened, quasi: Sequence[str], sensitive: Sequence[str], person: str | None, household: str | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Quasi-identifiers and sensitive variables: those named, or those suggested."""
    schema = found.table.schema
    for name in (*quasi, *sensitive, *(one for one in (household,) if one)):
        schema.position(name)
    for name in sensitive:
        if name in quasi:
            raise SensitiveIsQuasi(variable=name)
    apart = {person or found.person, household}
    known = schema.chosen(quasi, "--quasi") if quasi else tuple(n for n in _with(found, Role.QUASI) if n not in apart)
    guarded = tuple(sensitive) or tuple(n for n in _with(found, Role.SENSITIVE) if n not in (*known, *apart))
    return tuple(name for name in known if name not in guarded), guarded


def _with(found: Opened, role: Role) -> tuple[str, ...]:
    return tuple(v.name for v in found.variables if v.role == role and v.scale != Scale.FREE_TEXT)


def unknown_codes(variables: Sequence[Variable]) -> dict[str, tuple[str, ...]]:
    """The declared codes of unknown of each variable."""
    return {variable.name: variable.unknown for variable in variables if variable.unknown}


def _judged_by(made: Attacked, original: Any, report: Progress) -> Attacked:
    """The file beside its original: row by row where the rows go together, else only as a judge."""
    with opened(original, report, described=False) as found:
        if made.person is not None and made.person not in made.view.names:
            found.table.schema.position(made.person)
        names = tuple(name for name in found.table.names if name in made.view.names or name == made.person)
        shared = tuple(name for name in made.view.names if name in names)
        if not shared:
            raise NothingShared(file=found.source.name, names=", ".join(made.quasi or made.view.names))
        full = view_of(found.table, names)
    if not set(made.quasi) & set(shared):
        return replace(made, notes=(*made.notes, "original_unrelated", "judged_by_itself"))
    truth = picked(full, shared)
    if same_rows(made.view, truth, made.hierarchies):
        persons = full.codes[:, full.place(made.person)] if made.person in names else made.view.persons
        return replace(made, truth=with_persons(truth, persons), view=with_persons(made.view, persons),
                       keys=full.labels[full.place(made.person)] if made.person in names else made.keys)  # fmt: skip
    judge, keys = _same_ordinals(made, full, shared)
    return replace(made, judge=judge, keys=keys, notes=(*made.notes, "original_not_row_by_row"))


def _same_ordinals(made: Attacked, full: View, shared: Sequence[str]) -> tuple[View, tuple[str, ...]]:
    """The original with the person ordinals of the file; new people after them."""
    if made.person is None or made.person not in full.names or not made.keys:
        return picked(full, shared), ()
    place = {key: ordinal for ordinal, key in enumerate(made.keys)}
    own = full.labels[full.place(made.person)]
    moved = np.array([place.setdefault(key, len(place)) for key in own], np.int64)
    return with_persons(picked(full, shared), moved[full.codes[:, full.place(made.person)]]), tuple(place)


def same_rows(published: View, original: View, hierarchies: Mapping[str, AnyHierarchy]) -> bool:
    """Whether row for row every published label may stand for the original value."""
    if published.rows != original.rows:
        return False
    return all(_going_together(published, original, name, hierarchies.get(name)) for name in original.names)


def _going_together(published: View, original: View, name: str, hierarchy: AnyHierarchy | None) -> bool:
    one, other = published.place(name), original.place(name)
    width = max(len(original.labels[other]), 1)
    pairs, rows = np.unique(published.codes[:, one] * width + original.codes[:, other], return_counts=True)
    covers = compatible(published.labels[one], original.labels[other], hierarchy)
    known = np.repeat(np.arange(covers.shape[0]), np.diff(covers.indptr)) * width + covers.indices
    return bool(rows[np.isin(pairs, known)].sum() >= _MOST_ROWS * rows.sum())
