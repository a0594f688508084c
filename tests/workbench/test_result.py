"""The result as a page sees it: the verdict that the run left, rows beside what became of them, what is kept."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest

from celosia.model import dictionary
from celosia.model.rules import RuleReport
from celosia.model.value_errors import ValueOutOfRange
from celosia.model.variables import Role, Scale, Treatment
from celosia.model.verdict import State
from celosia.pipeline.assessment.errors import NoCandidate
from celosia.pipeline.candidate.before_after_sample import spread_positions
from celosia.pipeline.candidate.run import run_plan
from celosia.pipeline.intake.init_project import init
from celosia.pipeline.planning.plan import make_plan
from celosia.pipeline.project.folder import open_project
from celosia.pipeline.project.saved_reports import saved_report
from celosia.workbench.result import check_result, evaluation_report, evaluation_view, result_view, side_by_side
from tests.projects.steps import NOW
from tests.projects.survey import PLANTED, make_project

ROLES = {
    "RUT": Role.IDENTIFIER,
    "SEXO": Role.QUASI,
    "EDAD": Role.QUASI,
    "ZONA": Role.QUASI,
    "DIAG": Role.SENSITIVE,
    "INGRESO": Role.PLAIN,
    "NOTA": Role.PLAIN,
    "HOGAR": Role.PLAIN,
    "N": Role.PLAIN,
}
ROW_STEPS = """
[[steps]]
technique = "recode"
columns = ["SEXO"]
into = "GENERO"
map = {H = "M", M = "F"}
[[steps]]
technique = "microaggregate"
columns = ["INGRESO"]
k = 3
[[steps]]
technique = "swap"
columns = ["ZONA"]
"""
ROUND = '\n[[steps]]\ntechnique = "round"\ncolumns = ["INGRESO"]\nbase = 1000\n'
LESS = '\n[[steps]]\ntechnique = "select"\nkeep = {SEXO = ["H"]}\n'


def write_people(path: Path, rows: int = 90) -> Path:
    """People in an order that says nothing, with their number in the file, a formula and groups that are too small."""
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(ROLES)
        for i in range(rows):
            j = i * 37 % rows
            note = "=1+1" if j % 9 == 0 else "nada"
            zone = "isla" if j % 29 == 0 else ("norte", "sur")[j % 2]
            person = (f"{11_000_000 + j}-{j % 10}", "HM"[j % 2], 20 + j % 30, zone)
            lines.writerow([*person, f"D{j % 4}", 700 + j * 13 % 400, note, f"h{j // 2}", i + 1])
    return path


def make_run_project(place: Path, settings: str = "", household: bool = False, person: str = "") -> Path:
    """A project without norm, run; N, the number of the row in the source, is published and tells the rows apart."""
    place.mkdir(parents=True, exist_ok=True)
    folder = Path(init(str(write_people(place / "base.csv")), place / "p", (), now=NOW).project.folder)
    withheld = ("RUT",) if household else ("RUT", "HOGAR")
    lines = [
        replace(
            v,
            role=ROLES[v.name],
            kind=None,
            mel_label=None,
            purpose="" if v.name in withheld else "estudio",
            scale=Scale.DISCRETE if v.name in ("EDAD", "INGRESO") else Scale.CATEGORICAL,
            treatment=Treatment.REMOVE if v.name in withheld else Treatment.KEEP,
        )
        for v in open_project(folder).variables
    ]
    (folder / "dictionary.csv").write_text(dictionary.dump(lines), "utf-8")
    config = folder / "celosia.toml"
    text = config.read_text("utf-8")
    unit = ('household = "HOGAR"\n' if household else "") + (f'person = "{person}"\n' if person else "")
    head, separator, rest = text.partition("[unit]\n")
    cut = "\n".join(line for line in rest.split("\n") if not line.startswith("person"))
    config.write_text(head + separator + unit + (cut if person else rest) + settings, "utf-8")
    make_plan(folder, k=4, now=NOW)
    run_plan(folder, now=NOW)
    return folder


def by_number(folder: Path) -> dict[str, tuple[str, ...]]:
    """The candidate read by the standard library: the row of the source -> what is published of it."""
    with (folder / "private" / "candidate" / "data.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    return {row[header.index("N")]: tuple(row) for row in rows}


# --- rows side by side ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    ["", '\n[policy]\nsuppressed = "drop"\nlimit = 1.0\n', ROW_STEPS, LESS, LESS + ROW_STEPS],
    ids=["plain", "dropped", "steps", "selected", "selected and treated"],
)
def test_the_row_on_the_right_is_what_became_of_the_row_on_the_left(tmp_path, settings):
    folder = make_run_project(tmp_path, settings)
    published, sides = by_number(folder), side_by_side(folder, rows=90)
    with (tmp_path / "base.csv").open(encoding="utf-8", newline="") as file:
        source = list(csv.DictReader(file))
    assert [row.row for row in sides.rows] == list(range(1, 91))
    for row, line in zip(sides.rows, source, strict=True):
        shown = dict(zip((column.before for column in sides.columns), row.before, strict=True))
        assert all(shown[name] == line[name] for name in ROLES if name != "RUT")
        assert row.after == published.get(str(row.row))
    left = sum(row.after is None for row in sides.rows)
    assert left == 90 - len(published)
    assert (left > 0) == ("drop" in settings or "select" in settings)


def test_households_are_shown_under_the_numbers_they_are_published_with(tmp_path):
    folder = make_run_project(tmp_path, household=True)
    published, sides = by_number(folder), side_by_side(folder, rows=90)
    assert all(row.after == published[str(row.row)] for row in sides.rows)
    place = [column.after for column in sides.columns].index("HOGAR")
    assert all(row.after[place].isdecimal() or row.after[place] == "*" for row in sides.rows)


def test_persons_beside_the_file_do_not_shift_the_rows(tmp_path):
    folder = make_run_project(tmp_path, person="RUT")
    assert (folder / "private" / "candidate" / "order.parquet").is_file()
    published = by_number(folder)
    assert all(row.after == published[str(row.row)] for row in side_by_side(folder, rows=90).rows)


def test_changed_cells_are_marked_and_suppressed_rows_are_told(tmp_path):
    folder = make_run_project(tmp_path)
    sides = side_by_side(folder, rows=90)
    for row in sides.rows:
        pairs = zip(sides.columns, row.before, row.after, row.changed, strict=False)
        assert all(changed == (before != after) for _, before, after, changed in pairs)
        quasi = [
            after
            for column, after in zip(sides.columns, row.after, strict=False)
            if column.after in ("SEXO", "EDAD", "ZONA")
        ]
        assert row.suppressed == (set(quasi) == {"*"})
    assert sum(row.suppressed for row in sides.rows) == result_view(folder).suppression.masked


def test_identifiers_are_veiled_on_both_sides(tmp_path):
    folder = make_project(tmp_path / "p")
    make_plan(folder, now=NOW)
    run_plan(folder, now=NOW)
    sides = side_by_side(folder, rows=100)
    assert {column.before for column in sides.columns if column.veiled} == {"RUT", "NOMBRE"}
    assert PLANTED not in repr(sides)
    assert "12000007-7" not in repr(sides)
    lines = [replace(v, role=Role.IDENTIFIER) if v.name == "INGRESO" else v for v in open_project(folder).variables]
    (folder / "dictionary.csv").write_text(dictionary.dump(lines), "utf-8")
    again = side_by_side(folder, rows=100)  # a role that changed after the run counts at once
    assert "731000" not in repr(again)


def test_pages_of_rows_follow_each_other_and_a_page_is_bounded(tmp_path):
    folder = make_run_project(tmp_path)
    remaining, two = side_by_side(folder, rows=40), side_by_side(folder, rows=40, offset=40)
    assert (remaining.saved, remaining.of, two.offset) == (90, 90, 40)
    assert [row.row for row in (*remaining.rows, *two.rows)] == list(range(1, 81))
    assert side_by_side(folder, offset=90).rows == ()
    with pytest.raises(ValueOutOfRange):
        side_by_side(folder, rows=100_000)


def test_rows_of_another_candidate_are_not_shown(tmp_path):
    folder = make_run_project(tmp_path)
    verdict = folder / "private" / "candidate" / "verdict.json"
    verdict.write_text(verdict.read_text("utf-8").replace("sha256:", "sha256:0"), "utf-8")
    with pytest.raises(NoCandidate):
        side_by_side(folder)


def test_positions_are_spread_over_the_whole_source():
    assert spread_positions(10, 4).tolist() == [0, 2, 5, 7]
    assert spread_positions(3, 4).tolist() == [0, 1, 2]
    assert spread_positions(0).tolist() == []
    positions = spread_positions(1_000_003)
    assert len(set(positions.tolist())) == 1000
    assert positions[-1] < 1_000_003


# --- the verdict -----------------------------------------------------------------------------------


def test_without_a_candidate_nothing_is_claimed(tmp_path):
    result = result_view(make_project(tmp_path / "p"))
    assert (result.state, result.holds, result.candidate) == ("none", False, False)
    with pytest.raises(NoCandidate):
        side_by_side(tmp_path / "p")


@pytest.mark.requirement("M26", "M27")
def test_the_share_suppressed_is_that_of_the_rows_of_the_file(tmp_path):
    for suppressed in ("keep", "drop"):
        folder = make_run_project(tmp_path / suppressed, f'\n[policy]\nsuppressed = "{suppressed}"\nlimit = 1.0\n')
        result = result_view(folder)
        starred = sum(row[1:4] == ("*", "*", "*") or row[0:3] == ("*", "*", "*") for row in by_number(folder).values())
        gone = 90 - len(by_number(folder))
        shown = result.suppression
        assert shown.suppressed == (starred if suppressed == "keep" else gone) > 0
        assert (shown.records, shown.otherwise, shown.dropped) == (90, 0, suppressed == "drop")


def test_rules_come_with_their_section_and_what_is_still_to_come(tmp_path):
    folder = make_project(tmp_path / "p")
    make_plan(folder, now=NOW)
    run_plan(folder, now=NOW)
    result = result_view(folder)
    assert result.state == "holds"
    assert {rule.rule for rule in result.rules} >= {"k", "identifiers", "purposes"}
    assert all(rule.section for rule in (*result.rules, *result.later))
    assert {rule.stage for rule in result.later} == {"release", "publish"}
    assert not {rule.rule for rule in result.later} & {rule.rule for rule in result.rules}
    assert result.state == "holds"


def test_a_rule_that_fails_stops_the_result_and_advice_does_not(tmp_path):
    folder = make_project(tmp_path / "p")
    make_plan(folder, now=NOW)
    run_plan(folder, now=NOW)
    result = result_view(folder)
    must = next(rule for rule in result.rules if rule.rule == "k")
    broken = replace(result, rules=(replace(must, state=State.FAILS),))
    assert (broken.state, broken.failing) == ("fails", broken.rules)
    assert replace(result, verdicts=()).state == "fails"  # nothing measured, nothing shown
    assert RuleReport("", result.rules).holds


@pytest.mark.parametrize(
    ("edit", "what"),
    [
        (lambda folder: _append(folder / "celosia.toml", "\n[policy]\nlimit = 0.5\n"), ("policy",)),
        (lambda folder: _append(folder / "celosia.toml", ROUND), ("steps",)),
        (lambda folder: _append(folder / "private" / "candidate" / "data.csv", "H,sur,1,D1\n"), ("file",)),
        (lambda folder: make_plan(folder, k=9, now=NOW), ("plan",)),
    ],
    ids=["policy", "steps", "file", "plan"],
)
def test_a_result_says_what_changed_since(tmp_path, edit, what):
    folder = make_project(tmp_path / "p")
    make_plan(folder, now=NOW)
    run_plan(folder, now=NOW)
    assert result_view(folder).stale == ()
    edit(folder)
    result = result_view(folder)
    assert (result.state, result.stale) == ("stale", what)


def test_a_purpose_taken_back_makes_the_result_out_of_date(tmp_path):
    folder = make_project(tmp_path / "p")
    make_plan(folder, now=NOW)
    run_plan(folder, now=NOW)
    lines = [replace(v, purpose="") if v.name == "ZONA" else v for v in open_project(folder).variables]
    (folder / "dictionary.csv").write_text(dictionary.dump(lines), "utf-8")
    assert "dictionary" in result_view(folder).stale


def test_steps_that_rename_a_variable_do_not_make_the_result_look_old(tmp_path):
    folder = make_run_project(tmp_path, ROW_STEPS)
    assert result_view(folder).stale == ()
    assert "GENERO" in result_view(folder).published
    assert "SEXO" not in result_view(folder).withheld


def _append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


# --- long work, kept -------------------------------------------------------------------------------


def test_looking_again_is_kept_and_told_with_or_without_a_norm(tmp_path):
    for place, folder in (("a", make_project(_new(tmp_path / "a") / "p")), ("b", make_run_project(tmp_path / "b"))):
        if place == "a":
            make_plan(folder, now=NOW)
            run_plan(folder, now=NOW)
        assert result_view(folder).check is None
        assert check_result(folder, now=NOW).agrees
        seen = result_view(folder).check
        assert seen is not None
        assert (seen.agrees, seen.holds) == (True, True)
        saved = saved_report(folder, "check")
        assert saved is not None
        assert not saved.stale
        assert saved.document["check"]["holds"]


def _new(path: Path) -> Path:
    path.mkdir()
    return path


@pytest.mark.requirement("A28", "A29", "A31", "M27")
def test_the_evaluation_is_kept_with_loss_distributions_and_both_risks(tmp_path):
    folder = make_project(tmp_path / "p")
    make_plan(folder, now=NOW)
    run_plan(folder, now=NOW)
    evaluation_report(folder, now=NOW)
    evaluation = saved_report(folder, "evaluation")
    assert evaluation is not None
    assert not evaluation.stale
    document = evaluation.document["evaluation"]
    assert evaluation.document["candidate"] == result_view(folder).digest
    assert [variable["variable"] for variable in document["loss"]["variables"]] == [
        "SEXO",
        "ZONA",
        "INGRESO",
        "DIAG",
    ]
    assert {distribution["variable"] for distribution in document["distributions"]} == {
        "SEXO",
        "ZONA",
        "INGRESO",
        "DIAG",
    }
    assert document["risk"]["before"]["rows"] == document["risk"]["after"]["rows"] == 120
    assert 0 < document["risk"]["after"]["largest_risk"] <= 1
    assert PLANTED not in json.dumps(evaluation.document, ensure_ascii=False)
    view = evaluation_view(folder)
    assert view is not None
    assert view.report.evaluation.as_dict() == document
    assert view.report.residual
    run_plan(folder, now=NOW)
    _append(folder / "celosia.toml", "\n[policy]\nlimit = 0.5\n")
    assert saved_report(folder, "evaluation").stale  # type: ignore[union-attr]


def test_an_evaluation_finds_the_variables_that_steps_renamed(tmp_path):
    folder = make_run_project(tmp_path, ROW_STEPS)
    evaluation = evaluation_report(folder)["evaluation"]
    assert "SEXO" in evaluation["variables"]
    assert evaluation["added"] == []
