"""The population table that a file is compared with: its tuples over the file's variables.

Knows how to read it, whole or as counts. Ignores what is done with it. It may lie anywhere a source may.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from celosia.data.numbers import number_column
from celosia.data.table import Table
from celosia.hierarchy.model import CompiledHierarchy
from celosia.model.value_errors import ValueOutOfRange
from celosia.model.variables import Variable
from celosia.pipeline.intake.open_table import open_table
from celosia.pipeline.intake.proposed_hierarchies import default_spec
from celosia.pipeline.planning.errors import PopulationLacks, UnusableCounts
from celosia.pipeline.planning.hierarchies import HierarchyFolder, compiled_hierarchies
from celosia.pipeline.planning.pre_generalisation import positions_in
from celosia.risk.criteria import Criterion, KMap
from celosia.risk.population_levels import PopulationLevels, population_levels
from celosia.tuples.table import Tuples, project

_LARGEST = 2.0**53  # whole numbers beyond are not exact


def read_population(
    source: Any, names: Sequence[str], count: str | None = None, folder: HierarchyFolder | None = None
) -> Tuples:
    """The tuples of a population table; `count` names the column with the number of persons that a row represents."""
    if isinstance(folder, Path) and isinstance(source, str | Path) and "://" not in str(source):
        source = folder / source
    with open_table(source, described=False, naming=(*names, count)) as population:
        table, needed = population.table, [*names, *([count] if count else [])]
        lacking = [name for name in needed if name not in table.names]
        if lacking:
            raise PopulationLacks(missing=", ".join(lacking), known=", ".join(table.names))
        return table.tuples(names) if count is None else _tuples_by_count(table, names, count)


def _tuples_by_count(table: Table, names: Sequence[str], count: str) -> Tuples:
    each = table.tuples((*names, count))
    numbers = parse_numbers(each.vocabularies[-1])[each.codes[:, -1]]
    wrong = ~((numbers >= 0) & (numbers == np.rint(numbers)) & (numbers < _LARGEST))
    if wrong.any():
        raise UnusableCounts(variable=count, rows=int(each.rows[wrong].sum()))
    whole, label = project(each, names)
    rows = np.zeros(len(whole.rows), np.int64)
    np.add.at(rows, label, each.rows * numbers.astype(np.int64))
    return Tuples(whole.names, whole.vocabularies, whole.codes, rows)


def population_of_criteria(
    criteria: Sequence[Criterion],
    quasi: Tuples,
    variables: Mapping[str, Variable],
    specs: Mapping[str, Mapping[str, Any]],
    own: Mapping[str, CompiledHierarchy],
    folder: HierarchyFolder,
) -> PopulationLevels | None:
    """The population that criteria count in, under the file's own hierarchies."""
    asked = list(dict.fromkeys((c.population, c.count) for c in criteria if isinstance(c, KMap)))
    if not asked:
        return None
    if len(asked) > 1:
        raise ValueOutOfRange(parameter="k_map.population", given=asked[1][0], allowed=asked[0][0])
    population = read_population(asked[0][0], quasi.names, asked[0][1] or None, folder)
    both = _widen_vocabularies(quasi, population)
    fixed = {name: _fixed_spec(variables[name], quasi, specs.get(name)) for name in quasi.names}
    joined = compiled_hierarchies(both, variables, fixed, folder)
    return population_levels(population, own, joined)


def _fixed_spec(variable: Variable, quasi: Tuples, spec: Mapping[str, Any] | None) -> dict[str, Any]:
    """A hierarchy's description that does not follow the population's values; those a file lacks become `*`."""
    if spec is None:
        return default_spec(variable, quasi.vocabularies[quasi.position(variable.name)])
    return {**spec, "uncovered": "suppress"} if "file" in spec else dict(spec)


def _widen_vocabularies(quasi: Tuples, population: Tuples) -> Tuples:
    """The file's tuples over the values of both tables; the population's alone are held by no row."""
    codes, vocabularies = np.empty_like(quasi.codes), []
    for column, (name, own) in enumerate(zip(quasi.names, quasi.vocabularies, strict=True)):
        wider = tuple(sorted({*own, *population.vocabularies[population.position(name)]}))
        codes[:, column] = positions_in(wider, own)[quasi.codes[:, column]]
        vocabularies.append(wider)
    return Tuples(quasi.names, tuple(vocabularies), codes, quasi.rows)


def population_digest(population: PopulationLevels) -> str:
    """Digest of all that is counted in a population table together."""
    digest = hashlib.sha256("\x00".join(population.names).encode("utf-8"))
    for maps in population.maps:
        digest.update(maps[0].tobytes() + b"\x01")
    digest.update(np.ascontiguousarray(population.codes, np.int32).tobytes() + population.rows.tobytes())
    return "sha256:" + digest.hexdigest()


def parse_numbers(texts: Sequence[str], decimal: str = ".") -> NDArray[np.float64]:
    """Texts as numbers, NaN where they are none."""
    return number_column(pa.array(texts, pa.large_string()), decimal).values
