"""What is masked in one row of a household is not readable from another."""

from __future__ import annotations

import csv
import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.demo.synthetic.files import write_raw_csv
from celosia.demo.synthetic.surveys import survey
from celosia.model import dictionary
from celosia.model.errors import UnknownVariable
from celosia.model.plan import Plan
from celosia.model.variables import Role, Scale, Treatment
from celosia.pipeline.candidate import run as _run
from celosia.pipeline.candidate.errors import CandidateFails, PlanStale
from celosia.pipeline.candidate.run import run_plan
from celosia.pipeline.intake.init_project import init
from celosia.pipeline.planning import solution as _solution
from celosia.pipeline.planning import solve as _solve
from celosia.pipeline.planning.errors import HouseholdsExceedLimit, LinkedRowsMethod
from celosia.pipeline.planning.households import (
    NOBODY,
    LinkedTuples,
    extend_masks,
    extend_suppression,
    groups_of,
    has_one_value_each,
    numbers_from,
)
from celosia.pipeline.planning.plan import make_plan
from celosia.pipeline.project.folder import open_project
from celosia.risk.criteria import DistinctL, KAnonymity
from celosia.solver.published import ClassCounter
from tests.risk.rows import tuples_of

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
Row = dict[str, str]
Q, S, P = Role.QUASI, Role.SENSITIVE, Role.PLAIN


def project(
    path: Path, folder: Path, roles: Mapping[str, Role], settings: str = "", household: str = "HOGAR",
    person: str | None = None,
) -> Path:  # fmt: skip
    """A project that publishes the columns named, with these roles."""
    made = init(str(path), folder, now=NOW, person=person, header=True).project.folder
    variables = [
        replace(v, purpose="estudio", role=roles[v.name], treatment=Treatment.KEEP, scale=Scale.CATEGORICAL)
        if v.name in roles
        else replace(v, purpose="", role=v.role or Role.PLAIN)
        for v in open_project(made).variables
    ]
    (made / "dictionary.csv").write_text(dictionary.dump(variables), "utf-8")
    toml = made / "celosia.toml"
    head, _, _ = toml.read_text("utf-8").partition("[unit]")
    unit = (f'household = "{household}"\n' if household else "") + (f'person = "{person}"\n' if person else "")
    toml.write_text(f"{head}[unit]\n{unit}{settings}", "utf-8")
    return made


def written(path: Path, names: str, rows: Iterable[Sequence[str]]) -> Path:
    """A small CSV file."""
    path.write_text("\n".join([names, *[",".join(row) for row in rows]]) + "\n", "utf-8")
    return path


def released(folder: Path, **asked: object) -> tuple[Plan, list[Row]]:
    """The plan, and the rows of the candidate that it gives."""
    make_plan(folder, now=NOW, **asked)
    ran = run_plan(folder, now=NOW)
    with ran.candidate.open(encoding="utf-8", newline="") as file:
        return ran.plan, list(csv.DictReader(file))


def by(rows: Sequence[Row], names: Sequence[str]) -> dict[tuple[str, ...], list[Row]]:
    groups = defaultdict(list)
    for row in rows:
        groups[tuple(row[name] for name in names)].append(row)
    return groups


def suppressed(row: Row, quasi: Sequence[str]) -> bool:
    return all(row[name] == "*" for name in quasi)


def assert_unreadable(rows: Sequence[Row], link: str, quasi: Sequence[str], constant: Sequence[str] = ()) -> None:
    """In plain Python: a household is suppressed whole, and masks what all its rows share in all of them."""
    for (number,), members in by(rows, [link]).items():
        if number:
            assert len({suppressed(row, quasi) for row in members}) == 1
            for name in constant:
                assert len({row[name] == "*" for row in members}) == 1, name


def assert_classes(rows: Sequence[Row], quasi: Sequence[str], k: int) -> None:
    kept = [row for row in rows if not suppressed(row, quasi)]
    assert kept
    assert min(map(len, by(kept, quasi).values())) >= k


# --- a survey, end to end -------------------------------------------------------------------------------

QUASI = ("DEPARTAMENTO", "SEXO", "EDAD", "NIVEL_EDUCATIVO")
SURVEY = dict.fromkeys(QUASI, Q) | {"AREA_PREDIO_HA": S, "CONFIANZA_ALCALDIA": S}
MASKING = "[policy]\nmask_sensitive = true\n"


@pytest.fixture(scope="module")
def surveyed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_raw_csv(tmp_path_factory.mktemp("raw") / "encuesta.csv", survey(1_200, 7).to_batches())


@pytest.mark.requirement("M12", "M26", "X17")
def test_in_a_survey_no_masked_value_is_readable_from_a_sibling(surveyed, tmp_path):
    folder = project(surveyed, tmp_path / "p", SURVEY | {"HOGAR_ID": P}, MASKING, "HOGAR_ID")
    plan, rows = released(folder, k=4)
    assert plan.notes["households"]["constant"] == {"HOGAR_ID": ["AREA_PREDIO_HA"]}
    assert_unreadable(rows, "HOGAR_ID", QUASI, ["AREA_PREDIO_HA"])
    assert_classes(rows, QUASI, 4)
    assert plan.suppressed_rows == sum(suppressed(row, QUASI) for row in rows) > 0
    assert plan.notes["households"]["rows_added"] > 0
    assert not plan.optimal
    assert plan.bound < plan.loss
    sizes = [Counter(Counter(row["HOGAR_ID"] for row in some).values()) for some in (rows, raw_rows(surveyed))]
    assert sizes[0] == sizes[1]


def raw_rows(path: Path) -> list[Row]:
    with path.open(encoding="iso-8859-1", newline="") as file:
        return list(csv.DictReader(file, delimiter=";"))


def test_without_the_household_number_in_the_release_nothing_changes(surveyed, tmp_path):
    told = project(surveyed, tmp_path / "told", SURVEY, MASKING, "HOGAR_ID")
    plain = project(surveyed, tmp_path / "plain", SURVEY, MASKING, "")
    (plan, rows), (same_plan, same_rows) = released(told, k=4), released(plain, k=4)
    assert plan.as_dict() == same_plan.as_dict()
    assert rows == same_rows
    assert plan.optimal
    assert "households" not in plan.notes


# --- small tables ---------------------------------------------------------------------------------------

COMMON = [[str(h), "a", "x"] for h in range(100, 104) for _ in range(2)]
NO_LEVELS = '[hierarchies.Q]\nbuilder = "suppress"\nmaximum = 0\n'


def test_households_that_share_classes_in_a_chain_fall_one_after_the_other(tmp_path):
    """1 is alone in `r`; its other row leaves `b` with one of 2; 2's other row leaves `c` with one of 3, and so on."""
    chain = [["1", "r"], ["1", "b"], ["2", "b"], ["2", "c"], ["3", "c"], ["3", "d"], ["4", "d"], ["4", "a"]]
    source = written(tmp_path / "s.csv", "HOGAR,Q", [*chain, *[row[:2] for row in COMMON]])
    folder = project(source, tmp_path / "p", {"HOGAR": P, "Q": Q}, NO_LEVELS)
    plan, rows = released(folder, k=2)
    assert plan.suppressed_rows == 8
    assert plan.notes["households"]["rows_added"] == 7
    assert plan.suppressed_share == 0.5
    assert plan.classes == 1
    assert Counter(row["Q"] for row in rows) == {"*": 8, "a": 8}
    assert_unreadable(rows, "HOGAR", ["Q"])


def test_the_limit_holds_for_the_rows_that_households_add(tmp_path):
    source = written(tmp_path / "s.csv", "HOGAR,Q", [["1", "r"], ["1", "a"], *[row[:2] for row in COMMON]])
    folder = project(source, tmp_path / "p", {"HOGAR": P, "Q": Q}, NO_LEVELS)
    assert make_plan(folder, now=NOW, k=2, limit="0.2").plan.suppressed_rows == 2
    with pytest.raises(HouseholdsExceedLimit, match="HOGAR") as error:
        make_plan(folder, now=NOW, k=2, limit="0.1")
    assert error.value.values == {"own": 1, "added": 1, "allowed": 1, "columns": "HOGAR"}


def test_a_row_without_household_belongs_to_none(tmp_path):
    source = written(tmp_path / "s.csv", "HOGAR,Q", [["", "r"], ["", "a"], *[row[:2] for row in COMMON]])
    plan, rows = released(project(source, tmp_path / "p", {"HOGAR": P, "Q": Q}, NO_LEVELS), k=2)
    assert plan.suppressed_rows == 1
    assert sorted(row["Q"] for row in rows if row["HOGAR"] == "") == ["*", "a"]
    assert plan.optimal


@pytest.mark.requirement("M15", "X4")
def test_a_value_the_household_shares_is_masked_in_all_its_rows(tmp_path):
    """In class `b` everybody says x, so x goes; households 1 and 2 would still show it in class `a`."""
    rows = [["1", "b", "x"], ["1", "a", "x"], ["2", "b", "x"], ["2", "a", "x"]]
    rows += [["3", "a", "y"], ["4", "a", "x"], ["5", "c", "x"], ["6", "c", "z"]]
    source = written(tmp_path / "s.csv", "HOGAR,Q,V", rows)
    folder = project(source, tmp_path / "p", {"HOGAR": P, "Q": Q, "V": S}, NO_LEVELS + MASKING)
    plan, found = released(folder, k=2)
    assert_unreadable(found, "HOGAR", ["Q"], ["V"])
    assert plan.masked_sensitive == {"V": 4}
    assert Counter((row["Q"], row["V"]) for row in found)["a", "*"] == 2
    assert plan.suppressed_rows == 0


def test_a_value_that_came_masked_is_not_told_by_a_sibling(tmp_path):
    rows = [["1", "a", "*"], ["1", "a", "x"], ["2", "a", "x"], ["2", "a", "x"], ["3", "a", "y"], ["3", "a", "y"]]
    source = written(tmp_path / "s.csv", "HOGAR,Q,V", rows)
    folder = project(source, tmp_path / "p", {"HOGAR": P, "Q": Q, "V": S}, NO_LEVELS + MASKING)
    _, found = released(folder, k=2)
    assert_unreadable(found, "HOGAR", ["Q"], ["V"])
    assert Counter(row["V"] for row in found) == {"*": 2, "x": 2, "y": 2}


@pytest.mark.requirement("M15")
def test_a_value_that_differs_inside_households_is_masked_in_its_class_only(tmp_path):
    rows = [["1", "b", "x"], ["1", "a", "y"], ["2", "b", "x"], ["2", "a", "x"], ["3", "a", "y"], ["3", "a", "x"]]
    source = written(tmp_path / "s.csv", "HOGAR,Q,V", rows)
    folder = project(source, tmp_path / "p", {"HOGAR": P, "Q": Q, "V": S}, NO_LEVELS + MASKING)
    plan, found = released(folder, k=2)
    assert plan.masked_sensitive == {"V": 2}
    assert {row["Q"] for row in found if row["V"] == "*"} == {"b"}


@pytest.mark.requirement("X17")
def test_one_household_that_disagrees_does_not_open_the_others(tmp_path):
    rows = [[f"h{i}", quasi, "xy"[i % 2]] for i in range(40) for quasi in "mf"]
    rows += [["odd", "m", "x"], ["odd", "f", "y"]]
    rows += [["b", "f", "v"], ["b", "z", "v"], ["c", "m", "v"], ["c", "z", "v"]]  # in class z everybody holds v
    source = written(tmp_path / "s.csv", "HOGAR,Q,V", rows)
    folder = project(source, tmp_path / "p", {"HOGAR": P, "Q": Q, "V": S}, NO_LEVELS + MASKING)
    _, found = released(folder, k=2)
    assert {row["V"] for row in found if row["Q"] == "z"} == {"*"}
    assert_unreadable(found, "HOGAR", ["Q"], ["V"])
    assert "v" not in {row["V"] for row in found}


def test_the_size_asked_with_a_share_still_holds_after_households_went_whole(tmp_path):
    rows = [["1", "q", "x"], ["2", "q", "y"], ["1", "r", "x"], ["3", "s", "x"], ["4", "s", "y"]]
    source = written(tmp_path / "s.csv", "HOGAR,Q,V", rows)
    asked = (
        '[policy]\nmask_sensitive = true\ncriteria = [{ criterion = "alpha_k", variable = "V", alpha = 0.5, k = 2 }]\n'
    )
    folder = project(source, tmp_path / "p", {"HOGAR": P, "Q": Q, "V": S}, asked + NO_LEVELS)
    _, found = released(folder)
    assert Counter(row["Q"] for row in found) == {"*": 3, "s": 2}


@pytest.mark.requirement("X7")
def test_a_column_that_follows_is_hidden_in_the_whole_household_and_class(tmp_path):
    """Comuna is published as `*`; by chance class `a` is of one region, and siblings in `b` are not."""
    rows = [["1", "a", "c1", "r1"], ["1", "b", "c1", "r1"], ["2", "a", "c2", "r1"], ["3", "b", "c3", "r2"]]
    rows += [["4", "d", "c4", "r2"], ["5", "d", "c5", "r2"], ["6", "b", "c4", "r2"]]
    settings = NO_LEVELS + '[hierarchies.COMUNA]\nbuilder = "suppress"\nminimum = 1\n'
    source = written(tmp_path / "s.csv", "HOGAR,Q,COMUNA,REGION", rows)
    roles = {"HOGAR": P, "Q": Q, "COMUNA": Q, "REGION": P}
    plan, found = released(project(source, tmp_path / "p", roles, settings), k=2)
    assert plan.followers == {"REGION": ["COMUNA"]}
    assert_unreadable(found, "HOGAR", ["Q", "COMUNA"], ["REGION"])
    assert {(row["Q"], row["REGION"]) for row in found} == {("a", "*"), ("b", "*"), ("d", "r2")}


@pytest.mark.requirement("X17")
def test_a_person_shown_by_a_number_of_its_own_is_suppressed_whole(tmp_path):
    rows = [["p1", "r"], ["p1", "a"], ["p2", "a"], ["p2", "a"], ["p3", "a"], ["p3", "b"], ["p4", "b"], ["p4", "b"]]
    source = written(tmp_path / "s.csv", "ID,Q", rows)
    folder = project(source, tmp_path / "p", {"ID": P, "Q": Q}, NO_LEVELS, "", person="ID")
    plan, found = released(folder, k=2)
    assert_unreadable(found, "ID", ["Q"])
    assert plan.suppressed_rows == 2
    assert {row["ID"] for row in found} == {"1", "2", "3", "4"}
    for members in by([row for row in found if row["Q"] != "*"], ["Q"]).values():
        assert len({row["ID"] for row in members}) >= 2


def test_household_and_person_are_both_closed(tmp_path):
    """Person p1 has rows in two households: the rare one takes the other with it."""
    rows = [
        ["1", "p1", "r"],
        ["2", "p1", "a"],
        ["2", "p2", "a"],
        *[[h, f"q{i}", q] for i, (h, q, _) in enumerate(COMMON)],
    ]
    source = written(tmp_path / "s.csv", "HOGAR,ID,Q", rows)
    folder = project(source, tmp_path / "p", {"HOGAR": P, "ID": P, "Q": Q}, NO_LEVELS, person="ID")
    plan, found = released(folder, k=2)
    assert plan.suppressed_rows == 3
    for link in ("HOGAR", "ID"):
        assert_unreadable(found, link, ["Q"])


@pytest.mark.requirement("X17")
def test_the_numbers_shown_say_nothing_about_the_original_ones(tmp_path):
    shapes = ["aab", "ab", "ab", "aabb", "b", "abb", "a", "aab"]
    digests = set()
    for turn, names in enumerate((range(8), range(80, 0, -10), [5, 3, 7, 1, 0, 2, 6, 4])):
        rows = [[f"H{name}", q] for name, shape in zip(names, shapes, strict=True) for q in shape]
        source = written(tmp_path / f"{turn}.csv", "HOGAR,Q", rows if turn != 2 else rows[::-1])
        folder = project(source, tmp_path / f"p{turn}", {"HOGAR": P, "Q": Q}, NO_LEVELS)
        make_plan(folder, now=NOW, k=2)
        digests.add(run_plan(folder, now=NOW).candidate.read_bytes())
    assert len(digests) == 1


# --- refusals -------------------------------------------------------------------------------------------


@pytest.fixture
def small(tmp_path) -> Path:
    source = written(tmp_path / "s.csv", "HOGAR,Q", [["1", "r"], ["1", "a"], *[row[:2] for row in COMMON]])
    return project(source, tmp_path / "p", {"HOGAR": P, "Q": Q}, NO_LEVELS)


@pytest.mark.parametrize("method", ["recipe", "local", "cells"])
def test_methods_that_decide_row_by_row_are_refused(small, method):
    with pytest.raises(LinkedRowsMethod, match="HOGAR"):
        make_plan(small, now=NOW, method=method, order=("Q",))


def test_a_household_column_that_does_not_exist_is_refused(small):
    toml = small / "celosia.toml"
    toml.write_text(toml.read_text("utf-8").replace('"HOGAR"', '"CASA"'), "utf-8")
    with pytest.raises(UnknownVariable, match="CASA"):
        make_plan(small, now=NOW)


def test_a_household_declared_after_the_plan_makes_it_stale(small):
    toml = small / "celosia.toml"
    told = toml.read_text("utf-8")
    toml.write_text(told.replace('household = "HOGAR"\n', ""), "utf-8")
    make_plan(small, now=NOW, k=2)
    toml.write_text(told, "utf-8")
    with pytest.raises(PlanStale):
        run_plan(small, now=NOW)


@pytest.mark.parametrize(
    ("module", "name", "broken"),
    [
        (_solve, "extend_suppression", lambda counter, criteria, label, suppressed, links: suppressed),
        (_run, "renumber_households", lambda table, published, links, scratch: table),
    ],
    ids=["siblings kept", "original numbers"],
)
def test_a_file_that_gives_a_household_away_leaves_no_candidate(small, monkeypatch, module, name, broken: Callable):
    monkeypatch.setattr(module, name, broken)
    make_plan(small, now=NOW, k=2)
    with pytest.raises(CandidateFails, match="hogar"):
        run_plan(small, now=NOW)
    assert not (small / "private" / "candidate").exists()


def test_a_shared_value_shown_by_a_sibling_leaves_no_candidate(tmp_path, monkeypatch):
    rows = [["1", "b", "x"], ["1", "a", "x"], ["2", "b", "x"], ["2", "a", "x"], ["3", "a", "y"], ["4", "a", "x"]]
    source = written(tmp_path / "s.csv", "HOGAR,Q,V", rows)
    folder = project(source, tmp_path / "p", {"HOGAR": P, "Q": Q, "V": S}, NO_LEVELS + MASKING)
    in_class_b = {"V": np.array([False, False, False, False, True, True])}  # tuples: a1 a2 a3 a4 b1 b2
    monkeypatch.setattr(_solution, "extend_masks", lambda *_: in_class_b)
    make_plan(folder, now=NOW, k=2)
    with pytest.raises(CandidateFails, match="hogar"):
        run_plan(folder, now=NOW)


# --- laws -----------------------------------------------------------------------------------------------

HOMES = st.sampled_from(["1", "2", "3", "4", ""])
CLASS_HOME_VALUE_PERSON = st.tuples(st.sampled_from("ab"), HOMES, st.sampled_from("xyz"), st.sampled_from("pqrs"))
FAMILIES = st.lists(CLASS_HOME_VALUE_PERSON, min_size=1, max_size=8)


def counted(rows: Sequence[tuple[str, ...]], persons: bool) -> ClassCounter:
    people = [row[3] for row in rows] if persons else None
    split = tuples_of([row[:2] for row in rows], ("q", "h"), people)
    return ClassCounter(split, {"v": tuples_of([row[:3] for row in rows], ("q", "h", "v"), people)})


def least(sets: Iterable[frozenset[int]]) -> frozenset[int]:
    return frozenset.intersection(*sets)


def subsets(size: int) -> Iterable[frozenset[int]]:
    for many in range(size + 1):
        yield from map(frozenset, itertools.combinations(range(size), many))


@given(FAMILIES, st.integers(1, 3), st.integers(1, 2), st.booleans(), st.data())
def test_the_suppressed_are_the_least_closed_set(rows, k, most, persons, data):
    """The intersection of all sets of tuples that hold the first ones, whole households, and no failing class."""
    counter = counted(rows, persons)
    pairs = sorted({row[:2] for row in rows})
    start = frozenset(data.draw(st.sets(st.sampled_from(range(len(pairs))), max_size=2)))

    def closed(gone: frozenset[int]) -> bool:
        away = {pairs[i] for i in gone}
        homes = {h for _, h in away if h}
        if any(h in homes and (q, h) not in away for q, h in pairs):
            return False
        for q in {q for q, _ in pairs}:
            kept = [row for row in rows if row[0] == q and row[:2] not in away]
            size = len({row[3] for row in kept}) if persons else len(kept)
            if kept and (size < k or len({row[2] for row in kept}) < most):
                return False
        return True

    expected = least(gone for gone in subsets(len(pairs)) if start <= gone and closed(gone))
    criteria = [KAnonymity(k=k), DistinctL(variable="v", l=most, unit="rows")]
    label = counter.quasi.codes[:, 0].astype(np.int64)
    first = np.isin(np.arange(len(pairs)), list(start))
    found = extend_suppression(counter, criteria, label, first, [groups_of(counter.quasi, "h")])
    assert frozenset(np.flatnonzero(found).tolist()) == expected


@given(FAMILIES, st.integers(1, 3))
def test_the_masked_are_the_least_closed_set(rows, most):
    """Here every household has one value; a class shows at least l values or none."""
    rows = [(q, h, {"1": "x", "2": "x", "3": "y", "4": "z"}.get(h, v), p) for q, h, v, p in rows]
    counter = counted(rows, False)
    pairs = sorted({row[:2] for row in rows})

    def closed(hidden: frozenset[int]) -> bool:
        away = {pairs[i] for i in hidden}
        homes = {h for _, h in away if h}
        if any(h in homes and (q, h) not in away for q, h in pairs):
            return False
        shown = {q: {row[2] for row in rows if row[0] == q and row[:2] not in away} for q, _ in pairs}
        return all(not values or len(values) >= most for values in shown.values())

    expected = least(hidden for hidden in subsets(len(pairs)) if closed(hidden))
    none = np.zeros(0, np.int64)
    linked = LinkedTuples(counter.quasi, {"v": counter.quasi}, {}, {}, {"h": {"v": none}})
    nobody = np.zeros(len(pairs), bool)
    label = np.unique(counter.quasi.codes[:, 0], return_inverse=True)[1].reshape(-1).astype(np.int64)
    found = extend_masks(counter, [DistinctL(variable="v", l=most, unit="rows")], linked, label, nobody, {})
    assert frozenset(np.flatnonzero(found["v"]).tolist()) == expected


@given(FAMILIES)
def test_a_column_has_one_value_each_when_no_household_shows_two(rows):
    pair = tuples_of([(row[1], row[2]) for row in rows], ("h", "v"))
    shown = defaultdict(set)
    for _, h, v, _ in rows:
        if h:
            shown[h].add(v)
    assert has_one_value_each(pair) == all(len(values) == 1 for values in shown.values())


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(-1, 3), st.integers(-1, 5)), max_size=12), st.randoms())
def test_numbers_depend_on_what_is_published_alone(rows, random):
    """Persons live in one household each; other names and another order of the rows give the same file."""
    homes = {p: h for _, h, p in rows}
    rows = [(rank, homes[p] if p != NOBODY else h, p) for rank, h, p in sorted(rows)]
    other = [list(range(4)), list(range(6))]
    for names in other:
        random.shuffle(names)
    renamed = [(r, other[0][h] if h >= 0 else h, other[1][p] if p >= 0 else p) for r, h, p in rows]
    random.shuffle(renamed)
    assert numbered(rows) == numbered(sorted(renamed, key=lambda row: row[0]))


def numbered(rows: Sequence[tuple[int, int, int]]) -> Counter[tuple[int, ...]]:
    ranks = np.array([row[0] for row in rows], np.int64)
    dense = np.unique(ranks, return_inverse=True)[1].reshape(-1).astype(np.int64)
    links = [np.array([row[i] for row in rows], np.int64) for i in (1, 2)]
    numbers = numbers_from(dense, links)
    for link, number in zip(links, numbers, strict=True):
        seen = sorted(set(link.tolist()) - {NOBODY})
        assert sorted(number[seen].tolist()) == list(range(1, len(seen) + 1))
    shown = [np.append(number, 0)[link].tolist() for link, number in zip(links, numbers, strict=True)]
    return Counter(zip(ranks.tolist(), *shown, strict=True))
