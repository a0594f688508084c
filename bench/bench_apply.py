"""Applying a plan, writing the release and checking it, as a ratio of a sorted DuckDB copy of the same columns.

The baseline is what DuckDB alone needs to read the same published columns from the same working copy, order them by
all columns and write them as CSV: `COPY (SELECT … ORDER BY ALL) TO … (FORMAT csv)`. Ours recodes every row, orders it,
writes the file in our dialect, reads that file again from the disk and counts its classes; the search is not timed.
Once with persons as the unit, once with rows. Goal: at most twice the sorted copy at ten million rows; fewer are there
for the curve.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from bench.frame import Bench, Case, Figure, Job, Same, Scale, Work

ROWS, SMALL = (1_000_000, 10_000_000), (20_000,)
QUASI = ("SEXO", "EDAD_AÑOS", "COMUNA", "PREVISION")
OTHERS = ("MES_EGRESO", "DIAS_ESTADA", "CONDICION_EGRESO", "PERTENENCIA_ESTABLECIMIENTO_SALUD", "DIAG1")
UNITS = ("persons", "rows")
GOAL, GOAL_ROWS = 2.0, 10_000_000
SEED = 20_240_131


def planned(folder: Path, rows: int) -> Work:
    """The same source twice, planned: in `persons` a key says whose rows they are, in `rows` none does."""
    from celosia.data.synthetic import write_discharges
    from celosia.pipeline import init, make_plan

    def work() -> None:
        csv = write_discharges(folder / "egresos.csv", rows, SEED)
        made = init(str(csv), folder / "persons", ()).project.folder
        csv.unlink()
        _publish(made)
        shutil.copytree(made, folder / "rows")
        _forget_persons(folder / "rows" / "celosia.toml")
        for unit in UNITS:
            make_plan(folder / unit, k=5, l=2, method="full-domain", limit=0.2)

    return work


def _publish(folder: Path) -> None:
    """State what is published, as a person would in the dictionary."""
    from celosia.model import dictionary
    from celosia.model.variables import Role
    from celosia.pipeline import open_project

    roles = dict.fromkeys(QUASI, Role.QUASI) | dict.fromkeys(OTHERS, Role.PLAIN) | {"DIAG1": Role.SENSITIVE}
    stated = [
        replace(v, purpose="estudio" if v.name in roles else "", role=roles.get(v.name, v.role))
        for v in open_project(folder).variables()
    ]
    (folder / "dictionary.csv").write_text(dictionary.dump(stated), "utf-8")


def _forget_persons(path: Path) -> None:
    lines = path.read_text("utf-8").splitlines(keepends=True)
    path.write_text("".join(line for line in lines if not line.startswith("person ")), "utf-8")


def sorted_copy(folder: Path) -> Work:
    """What DuckDB alone needs to write the published columns in the order of their values."""
    import duckdb

    from celosia.data.readers import working_names

    working = folder / "rows" / "private" / "working.parquet"
    names = working_names(working)
    columns = ", ".join(f"c{names.index(name)}" for name in (*QUASI, *OTHERS))
    query = f"COPY (SELECT {columns} FROM read_parquet('{working}') ORDER BY ALL) TO '{folder}/sorted.csv' (FORMAT csv)"
    connection = duckdb.connect(config={"temp_directory": str(folder / "spill")})

    def work() -> None:
        connection.execute(query)

    return work


def applied(folder: Path, unit: str) -> Work:
    """Apply, write and check; source, plan and solution are at hand already."""
    from celosia.pipeline._open import opened
    from celosia.pipeline._plan import ground_for, read_plan
    from celosia.pipeline._project import open_project
    from celosia.pipeline._run import _checked, _reference, _written, reading_engine, solved_again
    from celosia.pipeline._sample import Watched
    from celosia.pipeline._steps import stepped

    project, plan = open_project(folder / unit), read_plan(folder / unit)
    stack = contextlib.ExitStack()
    source = stack.enter_context(opened(folder / unit, traced=True))
    after = stack.enter_context(stepped(project, source))
    ground = ground_for(project, after.found, **plan.asked)
    solution = solved_again(project, after, ground, plan, None)
    watched = Watched(project.config.source.rows, plan.published)
    target = folder / unit / "private" / "made"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(mode=0o700)

    def work() -> dict[str, object]:
        order = _written(after.found, ground, plan, solution, target, watched)
        check = _checked(target, order, plan, _reference(ground), reading_engine(after.found.table), None)
        stack.close()
        if not check.holds:
            raise RuntimeError("the release does not hold")
        return {"rows": check.rows, "classes": check.classes}

    return work


def cases(scale: Scale) -> Iterator[Case]:
    """Each size, in both units."""
    for rows in scale.rows(ROWS, SMALL):
        goal = GOAL if rows >= GOAL_ROWS else None
        yield Case(
            f"{rows:,} rows",
            prepare=Job("plan", planned, {"rows": rows}),
            jobs=(
                Job("copy", sorted_copy, words="sorted copy by DuckDB"),
                *(Job(unit, applied, {"unit": unit}, words=f"apply, write and check, in {unit}") for unit in UNITS),
            ),
            figures=tuple(
                Figure(f"apply, write and check ({unit})", (unit,), ("copy",), goal, series=f"apply {unit}", rows=rows)
                for unit in UNITS
            ),
            same=(Same("rows", UNITS),),
        )


BENCH = Bench("apply", "Apply, write and check a release", cases)
