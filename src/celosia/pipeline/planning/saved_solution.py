"""The solution of the last plan, saved in the private folder with the digest of all that it was found on.

`run` publishes what the plan says. Where the source counts to the very same tuples under the same policy, and the
solution is the very one that the plan describes, it need not be searched for again. Both are proved by digests: one
over everything that a search looks at, and the plan's own, which covers what is published for every tuple.
Knows arrays and files. Ignores how a solution is found. What cannot be read, or differs, is searched for again.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from celosia.hierarchy.model import CompiledHierarchy
from celosia.model.plan import Plan, digest_of
from celosia.pipeline.planning.search_input import SearchInput
from celosia.pipeline.planning.solution import Solution
from celosia.pipeline.project.folder import Project
from celosia.solver.published import PublishedTuples
from celosia.storage import PRIVATE_FILE, atomic_write
from celosia.tuples.table import Tuples

_FORMAT = "celosia/solution/1"
_BESIDE = ("neighbours",)
_UNIX = 3  # the number of the system in a zip file
_FIGURES = ("levels", "loss", "metric", "classes", "nodes", "nodes_checked", "optimal", "bound", "notes")


def search_digest(search_input: SearchInput) -> str | None:
    """Digest of everything that a search looks at; None where the search looks at more than tuples."""
    if search_input.parts is not None or search_input.linked is not None or search_input.population is not None:
        return None
    digest = hashlib.sha256(f"{_FORMAT}\x00{digest_of(search_input.policy.as_dict())}".encode())
    facts = {
        "published": search_input.published,
        "dependents": {name: list(columns) for name, columns in search_input.dependents.items()},
        "criteria": [criterion.as_dict() for criterion in search_input.criteria],
        "representatives": [dict(search_input.representatives.each), search_input.representatives.part],
    }
    digest.update(json.dumps(facts, ensure_ascii=True, sort_keys=True).encode("ascii"))
    for group in (search_input.sensitive, search_input.dependent_tuples):
        for name in sorted(group):
            digest.update(_texts_digest([name]) + _tuples_digest(group[name]))
    digest.update(_tuples_digest(search_input.quasi))
    for hierarchies in (search_input.hierarchies, search_input.sensitive_hierarchies):
        for name in sorted(hierarchies):
            digest.update(_texts_digest([name]) + _hierarchy_digest(hierarchies[name]))
    return f"sha256:{digest.hexdigest()}"


def _texts_digest(texts: Iterable[str]) -> bytes:
    return hashlib.sha256(json.dumps(list(texts), ensure_ascii=True).encode("ascii")).digest()


def _arrays_digest(*arrays: np.ndarray[Any, Any]) -> bytes:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.dtype.str}{array.shape}".encode("ascii"))
        digest.update(np.ascontiguousarray(array).data)
    return digest.digest()


def _tuples_digest(tuples: Tuples) -> bytes:
    parts = [_texts_digest(tuples.names), *map(_texts_digest, tuples.vocabularies)]
    parts.append(_arrays_digest(tuples.codes.T, tuples.rows))
    if (persons := tuples.persons) is not None:
        parts.append(_arrays_digest(persons.settled, persons.tuple_index, persons.ordinal, np.array([persons.total])))
    return hashlib.sha256(b"".join(parts)).digest()


def _hierarchy_digest(hierarchy: CompiledHierarchy) -> bytes:
    labels = b"".join(map(_texts_digest, hierarchy.labels))
    counts = np.array([hierarchy.leaf_count])
    return hashlib.sha256(labels + _arrays_digest(*hierarchy.maps, *hierarchy.shares, counts)).digest()


def save_solution(project: Project, search_input: SearchInput, solution: Solution, plan: Plan) -> None:
    """Save what a plan was made of; where it could not be used again, nothing is left.

    Its notes are the solution's and what was searched for beside it.
    """
    path, found_on = project.paths.solution, search_digest(search_input)
    if found_on is None or solution.tuples is not search_input.quasi:
        path.unlink(missing_ok=True)
        return
    published, masks = solution.published, sorted(solution.masks)
    beside = {name: plan.notes[name] for name in _BESIDE if name in plan.notes}
    figures = {name: getattr(solution, name) for name in _FIGURES}
    facts = {
        "format": _FORMAT,
        "input": found_on,
        "vocabularies": [list(vocabulary) for vocabulary in published.vocabularies],
        "masks": masks,
        "figures": {**figures, "levels": dict(solution.levels), "notes": {**solution.notes, **beside}},
    }
    arrays: dict[str, Any] = {f"m{i}": np.packbits(solution.masks[name]) for i, name in enumerate(masks)}
    arrays["facts"] = np.frombuffer(json.dumps(facts, ensure_ascii=True).encode("ascii"), np.uint8)
    arrays |= {"codes": published.codes.T, "suppressed": np.packbits(published.suppressed)}
    with atomic_write(path, PRIVATE_FILE) as draft:
        _write_arrays(draft, arrays)


def _write_arrays(path: Path, arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
    """What np.savez writes, with the same bytes on every system: a zip file says which one made it."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            entry = zipfile.ZipInfo(f"{name}.npy")
            entry.create_system, entry.external_attr = _UNIX, 0o600 << 16
            with archive.open(entry, "w", force_zip64=True) as stream:
                np.lib.format.write_array(stream, array, allow_pickle=False)


def saved_solution(project: Project, search_input: SearchInput) -> Solution | None:
    """The solution saved for exactly this input; None where there is none, or none that can be read."""
    path = project.paths.solution
    if not path.is_file() or (found_on := search_digest(search_input)) is None:
        return None
    try:
        with np.load(path, allow_pickle=False) as stored:
            facts = json.loads(stored["facts"].tobytes())
            if facts["format"] != _FORMAT or facts["input"] != found_on:
                return None
            return _solution(search_input, facts, {name: stored[name] for name in stored.files if name != "facts"})
    # Zip files, arrays and JSON each have their own; whatever it was, the search gives the answer.
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
        return None


def _solution(search_input: SearchInput, facts: dict[str, Any], arrays: dict[str, np.ndarray[Any, Any]]) -> Solution:
    count = len(search_input.quasi.rows)
    vocabularies = tuple(tuple(texts) for texts in facts["vocabularies"])
    published = PublishedTuples(
        search_input.quasi.names,
        vocabularies,
        np.asarray(arrays["codes"].T, np.int32),
        _unpack(arrays["suppressed"], count),
    )
    masks = {name: _unpack(arrays[f"m{i}"], count) for i, name in enumerate(facts["masks"])}
    return Solution(
        tuples=search_input.quasi,
        published=published,
        masks=masks,
        representatives=search_input.representatives,
        **{name: facts["figures"][name] for name in _FIGURES},
    )


def _unpack(bits: np.ndarray[Any, Any], count: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
    return np.unpackbits(bits, count=count).astype(bool)
