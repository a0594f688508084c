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
    from celosia.demo.synthetic.discharges import write_discharges
    from celosia.pipeline.intake.init_project import init
    from celosia.pipeline.planning.plan import make_plan

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
    from celosia.pipeline.project.folder import open_project

    roles = dict.fromkeys(QUASI, Role.QUASI) | dict.fromkeys(OTHERS, Role.PLAIN) | {"DIAG1": Role.SENSITIVE}
    stated = [
        replace(v, purpose="estudio" if v.name in roles else "", role=roles.get(v.name, v.role))
        for v in open_project(folder).variables
    ]
    (folder / "dictionary.csv").write_text(dictionary.dump(stated), "utf-8")


def _forget_persons(path: Path) -> None:
    lines = path.read_text("utf-8").splitlines(keepends=True)
    path.write_text("".join(line for line in lines if not line.startswith("person ")), "utf-8")


def sorted_copy(folder: Path) -> Work:
    """What DuckDB alone needs to write the published columns in the order of their values."""
    import duckdb

    from celosia.data.readers.working import working_names

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
    from celosia.data.candidate import write_candidate
    from celosia.model.paths import CandidatePaths
    from celosia.pipeline.candidate.before_after_sample import RowSampler
    from celosia.pipeline.candidate.check_file import check_file
    from celosia.pipeline.candidate.run import apply_solution, reading_engine, reference_of, reproduce_solution
    from celosia.pipeline.intake.open_table import open_table
    from celosia.pipeline.planning.plan import search_input_for
    from celosia.pipeline.planning.steps import apply_project_steps
    from celosia.pipeline.project.folder import open_project

    project = open_project(folder / unit)
    plan = project.plan
    stack = contextlib.ExitStack()
    source = stack.enter_context(open_table(project, traced=True))
    after = stack.enter_context(apply_project_steps(project, source))
    prepared = after.source
    search_input = search_input_for(project, prepared, **plan.asked)
    solution = reproduce_solution(project, after, search_input, plan, None)
    sampler = RowSampler(project.config.source.rows, plan.published)
    target = CandidatePaths(folder / unit / "private" / "made")
    shutil.rmtree(target.folder, ignore_errors=True)
    target.folder.mkdir(mode=0o700)

    def work() -> dict[str, object]:
        table = apply_solution(prepared.table, search_input, plan, solution, prepared.private)
        order = write_candidate(table, plan.published, prepared.person, target.folder, sampler)
        reference = reference_of(search_input, search_input.sensitive)
        check = check_file(target.data, plan, target.folder, order, reference, reading_engine(prepared.table))
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
