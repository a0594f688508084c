"""Small tables on an engine, searched and published without a project's folder: what laws are tried on."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from celosia.data.engines.duckdb import DuckDBEngine
from celosia.data.table import Table
from celosia.model.plan import Plan, Policy
from celosia.model.variables import Role, Scale, Variable
from celosia.pipeline.candidate.run import apply_solution
from celosia.pipeline.planning.search_input import SearchInput, build_search_input
from celosia.pipeline.planning.solution import Solution
from celosia.pipeline.planning.solve import solve
from celosia.solver.problem import NoSolution

# Each example is several searches on an engine: what fails is reported as it was drawn, not shrunk for minutes.
LAW = settings(
    max_examples=25,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
NAMES = ("ZONE", "DAY", "SEX", "FOLLOWS", "DIAG", "PERSON")
QUASI = ("ZONE", "DAY", "SEX")
Row = tuple[str, ...]
K2: Mapping[str, Any] = {"criterion": "k", "k": 2}
L2: Mapping[str, Any] = {"criterion": "distinct_l", "variable": "DIAG", "l": 2}
_ROLES = {"ZONE": Role.QUASI, "DAY": Role.QUASI, "SEX": Role.QUASI, "DIAG": Role.SENSITIVE, "FOLLOWS": Role.PLAIN}
VARIABLES = tuple(
    Variable(
        name,
        role=_ROLES.get(name, Role.IDENTIFIER),
        purpose="estudio" if name in _ROLES else "",
        scale=Scale.CATEGORICAL,
        unknown=("99",) if name == "DAY" else (),
    )
    for name in NAMES
)
ZONES = ("11", "12", "21", "22", "", "*")
DAYS = ("11", "12", "21", "22", "31", "32", "99", "", "**")


def write_hierarchies(folder: Path) -> dict[str, dict[str, str]]:
    """Hierarchies that list every value, so that a part of the rows has the same leaves as all of them."""
    # What says nothing ("", "99", asterisks) is its own label until the top, as if it were not listed.
    zones = "\n".join([f"{zone};{zone[0]}_;*" for zone in ZONES[:4]] + [f"{zone};{zone};*" for zone in ZONES[4:]])
    days = "\n".join(
        [f"{day};m{day[0]};{'early' if day[0] == '1' else 'late'};*" for day in DAYS[:6]]
        + [f"{day};{day};{day};*" for day in DAYS[6:]]
    )
    (folder / "zone.csv").write_text(zones + "\n", "utf-8")
    (folder / "day.csv").write_text(days + "\n", "utf-8")
    (folder / "sex.csv").write_text("H;*\nM;*\n", "utf-8")
    return {"ZONE": {"file": "zone.csv"}, "DAY": {"file": "day.csv"}, "SEX": {"file": "sex.csv"}}


@st.composite
def tables(draw: st.DrawFn, largest: int = 40) -> list[Row]:
    """Rows of a few persons, who may have rows in several zones; FOLLOWS tells zone or diagnosis, or nothing."""
    follows = draw(st.sampled_from(("zone", "diag", "nothing")))
    rows = draw(
        st.lists(
            st.tuples(
                st.sampled_from(ZONES),
                st.sampled_from(DAYS),
                st.sampled_from("HM"),
                st.sampled_from(("A", "B", "C", "", "*")),
                st.integers(0, 12),
            ),
            min_size=1,
            max_size=largest,
        )
    )
    formulas = {"zone": lambda zone, diag: f"of {zone}", "diag": lambda zone, diag: f"of {diag}"}
    return [
        (zone, day, sex, formulas.get(follows, lambda z, d: "same")(zone, diag), diag, f"p{person}")
        for zone, day, sex, diag, person in rows
    ]


def policies(hierarchies: Mapping[str, Mapping[str, Any]]) -> st.SearchStrategy[Policy]:
    """Policies that the optimal search may be asked, without a partition."""
    criteria = st.sampled_from(((K2,), (K2, L2), ({"criterion": "k", "k": 3, "unit": "rows"}, L2), (L2,)))
    return st.builds(
        lambda criteria, limit, metric, mean, mask, zone, day: Policy(
            QUASI,
            ("DIAG",),
            criteria,
            limit,
            metric=metric,
            mean=mean,
            hierarchies=dict(hierarchies),
            minimum={"ZONE": zone, "DAY": day},
            mask_sensitive=mask,
        ),
        criteria,
        st.sampled_from([Fraction(1), Fraction(1, 4), Fraction(1, 10)]),
        st.sampled_from(("loss", "discernibility", "average_class_size", "precision")),
        st.sampled_from(("geometric", "arithmetic")),
        st.booleans(),
        st.integers(0, 2),
        st.integers(0, 3),
    )


def table_of(engine: DuckDBEngine, rows: Sequence[Row]) -> Table:
    """The rows on an engine."""
    columns = {f"c{i}": pa.array([row[i] for row in rows], pa.string()) for i in range(len(NAMES))}
    return Table(engine, engine.upload(pa.table(columns)), NAMES)


def search_rows(
    engine: DuckDBEngine, rows: Sequence[Row], policy: Policy, folder: Path, person: str | None = "PERSON"
) -> tuple[SearchInput, Solution | NoSolution]:
    """What the search finds for some rows."""
    ground = build_search_input(table_of(engine, rows), VARIABLES, person, policy, folder)
    return ground, solve(ground)


def publish_rows(
    engine: DuckDBEngine, rows: Sequence[Row], ground: SearchInput, solution: Solution, place: Path
) -> list[Row]:
    """The rows as published, with the person behind each, which nobody else sees."""
    table = apply_solution(table_of(engine, rows), ground, plan_like(ground), solution, place)
    batches = table.batches(NAMES)
    return sorted(row for batch in batches for row in zip(*[column.to_pylist() for column in batch], strict=True))


def plan_like(ground: SearchInput) -> Plan:
    """All of a plan that publishing looks at."""
    names: dict[str, Any] = dict.fromkeys(Plan.__slots__)
    return replace(Plan(**names), published=ground.published, followers=ground.dependents)


def is_suppressed(row: Row) -> bool:
    """Whether every quasi-identifier is made of asterisks."""
    return all(cell and not cell.strip("*") for cell in row[: len(QUASI)])


def classes_of(rows: Sequence[Row]) -> dict[Row, list[Row]]:
    """Rows by what they show in the quasi-identifiers."""
    classes: dict[Row, list[Row]] = defaultdict(list)
    for row in rows:
        classes[row[: len(QUASI)]].append(row)
    return classes


def breaks_criteria(rows: Sequence[Row], criteria: Sequence[Mapping[str, Any]], by_person: bool = True) -> bool:
    """Whether the rows of one class break a k or a distinct l, counted in plain Python."""
    return any(_breaks_criterion(rows, criterion, by_person) for criterion in criteria)


def _breaks_criterion(rows: Sequence[Row], criterion: Mapping[str, Any], by_person: bool) -> bool:
    persons = {row[5] for row in rows}
    in_persons = by_person and criterion.get("unit") != "rows"
    if criterion["criterion"] == "k":
        return (len(persons) if in_persons else len(rows)) < criterion["k"]
    shown = [row for row in rows if row[4] == "" or row[4].strip("*")]
    if not shown:
        return False
    holders = Counter(value for value, _ in {(row[4], row[5]) for row in shown})
    lacking = in_persons and max(holders.values()) > len(persons) - (criterion["l"] - 1)
    return len({row[4] for row in shown}) < criterion["l"] or lacking
