"""From tables to what the attacks are given: columns as codes and labels, rows in the order of the file.

Knows Arrow and the types of the attacks. Ignores projects and roles.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy import sparse

from celosia.attacks import AnyHierarchy, Column, Records, Scene, View, compatible, same_values
from celosia.data.table import Table
from celosia.model.values import MISSING, is_masked
from celosia.tuples import group_codes

Codes = NDArray[np.int64]
NOBODY = -1


def view_of(table: Table, names: Sequence[str]) -> View:
    """Some columns of a table as codes, rows in the order of its file."""
    return view_from(table.batches(names), names)


def view_from(batches: Iterable[pa.RecordBatch], names: Sequence[str]) -> View:
    """Batches of text columns as codes into sorted labels."""
    parts: list[list[pa.Array]] = [[] for _ in names]
    for batch in batches:
        for place, found in enumerate(parts):
            found.append(batch.column(place).cast(pa.large_string()))
    coded = [_coded(pa.chunked_array(found, pa.large_string())) for found in parts]
    codes = np.stack([codes for codes, _ in coded], axis=1) if coded else np.empty((0, 0), np.int64)
    return View(tuple(names), tuple(labels for _, labels in coded), codes)


def _coded(column: pa.ChunkedArray) -> tuple[Codes, tuple[str, ...]]:
    values = column.combine_chunks().dictionary_encode()
    order = pc.sort_indices(values.dictionary).to_numpy()
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    labels = values.dictionary.take(pa.array(order)).to_pylist()
    return rank[values.indices.to_numpy(zero_copy_only=False)], tuple(labels)


def picked(view: View, names: Sequence[str]) -> View:
    """Fewer columns of a view."""
    places = [view.place(name) for name in names]
    return View(tuple(names), tuple(view.labels[place] for place in places), view.codes[:, places], view.persons)


def renamed(view: View, names: Sequence[str]) -> View:
    """The same columns under other names."""
    return replace(view, names=tuple(names))


def with_persons(view: View, persons: Codes | None) -> View:
    """The view with whose row each one is."""
    return replace(view, persons=persons)


def persons_by_key(view: View, key: str) -> Codes:
    """Whose row each one is, by a column that says so; a row that does not say is a person of its own."""
    place = view.place(key)
    unsaid = np.array([label == MISSING for label in view.labels[place]], np.bool_)
    return np.where(unsaid[view.codes[:, place]], len(unsaid) + np.arange(view.rows), view.codes[:, place])


def persons_by_row(view: View, known: Sequence[str]) -> Codes | None:
    """Rows that a list repeats are one person, where the columns besides the known ones tell people apart (a name)."""
    sizes = [len(labels) for labels in view.labels]
    others = [place for place, name in enumerate(view.names) if name not in known]
    if not others:
        return None
    told, person = group_codes(view.codes[:, others], [sizes[place] for place in others])
    whole, _ = group_codes(view.codes, sizes)
    return person if len(told) == len(whole) else None


def told_once(view: View) -> View:
    """The view without rows that say the same of the same person again."""
    if view.persons is None:
        return view
    sizes = [*(len(labels) for labels in view.labels), int(view.persons.max(initial=-1)) + 1]
    first, _ = group_codes(np.column_stack([view.codes, view.persons]), sizes)
    kept = np.sort(first)
    return replace(view, codes=view.codes[kept], persons=view.persons[kept])


def recoded(view: View, name: str, labels: Sequence[str]) -> Codes:
    """The codes of a column into other labels; NOBODY where they have no such label."""
    place = {label: code for code, label in enumerate(labels)}
    own = view.place(name)
    moved = np.array([place.get(label, NOBODY) for label in view.labels[own]], np.int64)
    return moved[view.codes[:, own]]


def columns_of(
    released: View,
    others: Sequence[View],
    names: Sequence[str],
    hierarchies: Mapping[str, AnyHierarchy],
    *,
    blanks: Mapping[str, Sequence[str]] | None = None,
    tolerance: float = 0.0,
) -> tuple[tuple[Column, ...], tuple[tuple[str, ...], ...]]:
    """The published labels of each column against the values of the other files, and those values."""
    columns, vocabularies = [], []
    for name in names:
        values = tuple(sorted({label for view in others for label in view.labels[view.place(name)]}))
        labels = released.labels[released.place(name)]
        open_texts = () if blanks is None else ("", *blanks.get(name, ()))
        if labels == values and not tolerance and not open_texts and not any("*" in label for label in labels):
            columns.append(same_values(name, len(labels)))
        else:
            covers = compatible(labels, values, hierarchies.get(name), tolerance=tolerance, blanks=open_texts)
            columns.append(Column(name, covers))
        vocabularies.append(values)
    return tuple(columns), tuple(vocabularies)


def records_of(view: View, names: Sequence[str], vocabularies: Sequence[Sequence[str]]) -> Records:
    """The rows of a view as codes into those values."""
    codes = [recoded(view, name, values) for name, values in zip(names, vocabularies, strict=True)]
    made = np.stack(codes, axis=1) if codes else np.empty((view.rows, 0), np.int64)
    return Records(made, view.persons)


def released_records(view: View, names: Sequence[str]) -> Records:
    """The rows of a release as codes of its own labels."""
    return Records(np.ascontiguousarray(view.codes[:, [view.place(name) for name in names]]), view.persons)


def scene_of(
    released: View,
    original: View,
    held_out: View | None,
    names: Sequence[str],
    hierarchies: Mapping[str, AnyHierarchy],
) -> Scene:
    """A release, what judges it and who was kept apart, over the same columns."""
    others = [original] if held_out is None else [original, held_out]
    columns, vocabularies = columns_of(released, others, names, hierarchies)
    return Scene(
        columns,
        released_records(released, names),
        records_of(original, names, vocabularies),
        None if held_out is None else records_of(held_out, names, vocabularies),
    )


def itself(view: View, names: Sequence[str], veiled: Sequence[str] = ()) -> Scene:
    """A release that stands for its own original: every label covers itself.

    In the `veiled` columns a mask also covers all that it may hide. Not in those by which people are looked up: one
    masked record would go with everybody, and hide the others.
    """
    columns = tuple(
        _own_labels(name, view.labels[view.place(name)]) if name in veiled
        else same_values(name, len(view.labels[view.place(name)]))
        for name in names
    )  # fmt: skip
    records = released_records(view, names)
    records = Records(records.codes, records.owners)  # each record is somebody's: guesses can be made without it
    return Scene(columns, records, records)


def _own_labels(name: str, labels: Sequence[str]) -> Column:
    """The labels of a column over themselves. What is masked was never seen: no label but a mask covers it."""
    masks = np.array([place for place, label in enumerate(labels) if "*" in label], np.int64)
    if not len(masks):
        return same_values(name, len(labels))
    found = compatible([labels[place] for place in masks], labels).tocoo()
    mask, value = masks[found.row], found.col.astype(np.int64)
    open_mask = np.array([is_masked(label) for label in labels], np.bool_)
    kept = open_mask[mask] | ~np.isin(value, masks)
    rows, columns = (np.concatenate([np.arange(len(labels)), part[kept]]) for part in (mask, value))
    covers = sparse.csr_array((np.ones(len(rows), np.int64), (rows, columns)), shape=(len(labels), len(labels)))
    return Column(name, covers.astype(np.bool_))
