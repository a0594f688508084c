"""From tables to the input of the attacks: columns as codes and labels, rows in the order of the file.

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

from celosia.attacks.attack_input import AttackInput, PublishedColumn, Records, View, unchanged_column
from celosia.attacks.compatible import AnyHierarchy, compatible
from celosia.data.table import Table
from celosia.model.values import MISSING, is_masked
from celosia.tuples.table import group_codes

Codes = NDArray[np.int64]
NOBODY = -1


def view_of(table: Table, names: Sequence[str]) -> View:
    """Some columns of a table as codes, rows in the order of its file."""
    return view_from(table.batches(names), names)


def view_from(batches: Iterable[pa.RecordBatch], names: Sequence[str]) -> View:
    """Batches of text columns as codes into sorted labels."""
    parts: list[list[pa.Array]] = [[] for _ in names]
    for batch in batches:
        for position, arrays in enumerate(parts):
            arrays.append(batch.column(position).cast(pa.large_string()))
    coded = [_encode_column(pa.chunked_array(arrays, pa.large_string())) for arrays in parts]
    codes = np.stack([codes for codes, _ in coded], axis=1) if coded else np.empty((0, 0), np.int64)
    return View(tuple(names), tuple(labels for _, labels in coded), codes)


def _encode_column(column: pa.ChunkedArray) -> tuple[Codes, tuple[str, ...]]:
    values = column.combine_chunks().dictionary_encode()
    order = pc.sort_indices(values.dictionary).to_numpy()
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    labels = values.dictionary.take(pa.array(order)).to_pylist()
    return rank[values.indices.to_numpy(zero_copy_only=False)], tuple(labels)


def select_columns(view: View, names: Sequence[str]) -> View:
    """Fewer columns of a view."""
    positions = [view.column_index(name) for name in names]
    labels = tuple(view.labels[position] for position in positions)
    return View(tuple(names), labels, view.codes[:, positions], view.persons)


def rename_columns(view: View, names: Sequence[str]) -> View:
    """The same columns under other names."""
    return replace(view, names=tuple(names))


def with_persons(view: View, persons: Codes | None) -> View:
    """The view with the person of each row."""
    return replace(view, persons=persons)


def persons_by_key(view: View, key: str) -> Codes:
    """The person of each row, by a key column; a row without a key is a person of its own."""
    position = view.column_index(key)
    missing = np.array([label == MISSING for label in view.labels[position]], np.bool_)
    return np.where(missing[view.codes[:, position]], len(missing) + np.arange(view.rows), view.codes[:, position])


def persons_by_row(view: View, known: Sequence[str]) -> Codes | None:
    """Rows that a list repeats are one person, where the columns besides the known ones identify people (a name)."""
    sizes = [len(labels) for labels in view.labels]
    others = [position for position, name in enumerate(view.names) if name not in known]
    if not others:
        return None
    persons, person = group_codes(view.codes[:, others], [sizes[position] for position in others])
    rows, _ = group_codes(view.codes, sizes)
    return person if len(persons) == len(rows) else None


def drop_repeated_rows(view: View) -> View:
    """The view without rows that repeat another one of the same person."""
    if view.persons is None:
        return view
    sizes = [*(len(labels) for labels in view.labels), int(view.persons.max(initial=-1)) + 1]
    first, _ = group_codes(np.column_stack([view.codes, view.persons]), sizes)
    first_rows = np.sort(first)
    return replace(view, codes=view.codes[first_rows], persons=view.persons[first_rows])


def recode_column(view: View, name: str, labels: Sequence[str]) -> Codes:
    """The codes of a column into other labels; NOBODY where they have no such label."""
    code_by_label = {label: code for code, label in enumerate(labels)}
    position = view.column_index(name)
    new_codes = np.array([code_by_label.get(label, NOBODY) for label in view.labels[position]], np.int64)
    return new_codes[view.codes[:, position]]


def columns_of(
    released: View,
    others: Sequence[View],
    names: Sequence[str],
    hierarchies: Mapping[str, AnyHierarchy],
    blanks: Mapping[str, Sequence[str]] | None = None,
) -> tuple[tuple[PublishedColumn, ...], tuple[tuple[str, ...], ...]]:
    """The published labels of each column against the values of the other files, and those values."""
    columns, vocabularies = [], []
    for name in names:
        values = tuple(sorted({label for view in others for label in view.labels[view.column_index(name)]}))
        labels = released.labels[released.column_index(name)]
        open_texts = () if blanks is None else ("", *blanks.get(name, ()))
        if labels == values and not open_texts and not any("*" in label for label in labels):
            columns.append(unchanged_column(name, len(labels)))
        else:
            covers = compatible(labels, values, hierarchies.get(name), blanks=open_texts)
            columns.append(PublishedColumn(name, covers))
        vocabularies.append(values)
    return tuple(columns), tuple(vocabularies)


def records_of(view: View, names: Sequence[str], vocabularies: Sequence[Sequence[str]]) -> Records:
    """The rows of a view as codes into those values."""
    codes = [recode_column(view, name, values) for name, values in zip(names, vocabularies, strict=True)]
    stacked = np.stack(codes, axis=1) if codes else np.empty((view.rows, 0), np.int64)
    return Records(stacked, view.persons)


def released_records(view: View, names: Sequence[str]) -> Records:
    """The rows of a release as codes of its own labels."""
    return Records(np.ascontiguousarray(view.codes[:, [view.column_index(name) for name in names]]), view.persons)


def build_attack_input(
    released: View, original: View, held_out: View | None, names: Sequence[str], hierarchies: Mapping[str, AnyHierarchy]
) -> AttackInput:
    """A release, the original that judges it and the people held out, over the same columns."""
    others = [original] if held_out is None else [original, held_out]
    columns, vocabularies = columns_of(released, others, names, hierarchies)
    return AttackInput(
        columns,
        released_records(released, names),
        records_of(original, names, vocabularies),
        None if held_out is None else records_of(held_out, names, vocabularies),
    )


def build_self_attack_input(view: View, names: Sequence[str], veiled: Sequence[str] = ()) -> AttackInput:
    """A release that is its own original: every label covers itself.

    In the `veiled` columns a mask also covers all that it may hide. Not in those by which people are looked up: one
    masked record would match everybody, and hide the others.
    """
    columns = []
    for name in names:
        labels = view.labels[view.column_index(name)]
        columns.append(_own_labels(name, labels) if name in veiled else unchanged_column(name, len(labels)))
    records = released_records(view, names)
    # Each record has an owner, so that guesses can be made without it.
    records = Records(records.codes, records.owners)
    return AttackInput(tuple(columns), records, records)


def _own_labels(name: str, labels: Sequence[str]) -> PublishedColumn:
    """The labels of a column over themselves. What is masked was never seen: no label but a mask covers it."""
    masks = np.array([position for position, label in enumerate(labels) if "*" in label], np.int64)
    if not len(masks):
        return unchanged_column(name, len(labels))
    pairs = compatible([labels[position] for position in masks], labels).tocoo()
    mask, value = masks[pairs.row], pairs.col.astype(np.int64)
    open_mask = np.array([is_masked(label) for label in labels], np.bool_)
    covering = open_mask[mask] | ~np.isin(value, masks)
    rows, columns = (np.concatenate([np.arange(len(labels)), part[covering]]) for part in (mask, value))
    covers = sparse.csr_array((np.ones(len(rows), np.int64), (rows, columns)), shape=(len(labels), len(labels)))
    return PublishedColumn(name, covers.astype(np.bool_))
