"""Hierarchies built and edited in a project: tried without writing, saved when complete, bounded by level."""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from celosia.hierarchy.errors import HierarchyGap, HierarchyRagged, LevelOutsideHierarchy, ValuesOutsideBuilder
from celosia.hierarchy.registry import BUILDERS
from celosia.model import dictionary
from celosia.model.errors import UnknownVariable
from celosia.model.variables import Role, Scale
from celosia.pipeline.candidate.run import run_plan
from celosia.pipeline.intake.init_project import init
from celosia.pipeline.planning.plan import make_plan
from celosia.pipeline.project.errors import EditedMeanwhile
from celosia.pipeline.project.files import digest_of_file, read_toml
from celosia.pipeline.project.folder import open_project
from celosia.pipeline.release.stats_rules import journal_entries
from celosia.workbench.errors import IdentifierHasNoHierarchy, ValuesVeiled
from celosia.workbench.hierarchy_draft import discard_tree, edit_tree, tree_page
from celosia.workbench.hierarchy_edit import (
    begin_hierarchy,
    begin_tree,
    export_tried,
    hierarchy_builders,
    project_hierarchies,
    reset_hierarchy,
    save_hierarchy,
    take_hierarchy,
    try_hierarchy,
    values_in_order,
)
from celosia.workbench.views.hierarchies import HierarchyTrial

NOW = datetime(2026, 11, 16, 9, 0, tzinfo=UTC)
PERTENENCIA = "PERTENENCIA_ESTABLECIMIENTO_SALUD"
PUBLIC, PRIVATE = "Pertenecientes al SNSS", "No Pertenecientes al SNSS"
PLANTED = "Zutanita"
ROLES = {
    "NOMBRE": Role.IDENTIFIER,
    PERTENENCIA: Role.QUASI,
    "EDAD_AÑOS": Role.QUASI,
    "COMUNA": Role.QUASI,
    "DIAG1": Role.SENSITIVE,
}
COMUNAS = ("05302", "05301", "13101", "13120", "99999")


@pytest.fixture
def folder(tmp_path: Path, discharges: Path) -> Path:
    """A project of one's own."""
    return Path(shutil.copytree(discharges, tmp_path / "p"))


@pytest.fixture(scope="module")
def discharges(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Discharges with ages from 0 to 118, two kinds of hospital and a comuna; names are planted."""
    tmp_path = tmp_path_factory.mktemp("egresos")
    lines = [f"NOMBRE,{PERTENENCIA},EDAD_AÑOS,COMUNA,DIAG1"]
    for i in range(238):
        where = PUBLIC if i % 3 else PRIVATE
        lines.append(f"{PLANTED}{i},{where},{i // 2},{COMUNAS[i % 5]},{'A001' if i % 2 else 'I210'}")
    (tmp_path / "egresos.csv").write_text("\n".join(lines) + "\n", "utf-8")
    made = init(tmp_path / "egresos.csv", tmp_path / "p", now=NOW).project.folder
    described = [
        replace(
            v,
            role=ROLES[v.name],
            purpose="" if v.name == "NOMBRE" else "estudio",
            missing=(),
            unknown=("99999",) if v.name == "COMUNA" else (),
            scale=Scale.DISCRETE if v.name == "EDAD_AÑOS" else Scale.CATEGORICAL,
        )
        for v in open_project(made).variables
    ]
    (made / "dictionary.csv").write_text(dictionary.dump(described), "utf-8")
    return Path(made)


def labels(trial: HierarchyTrial, level: int) -> list[str]:
    return [group.label for group in trial.levels[level].groups]


def config(folder: Path, variable: str) -> dict[str, Any]:
    spec: dict[str, Any] = read_toml(folder / "celosia.toml").get("hierarchies", {}).get(variable, {})
    return spec


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def write(path: Path, rows: Sequence[Sequence[str]]) -> Path:
    path.write_text("".join(";".join(row) + "\n" for row in rows), "utf-8")
    return path


# --- what there is ------------------------------------------------------------------------------------


def test_the_forms_are_the_declared_parameters_of_every_builder() -> None:
    forms = hierarchy_builders()
    assert [form.name for form in forms.builders] == [builder.name for builder in BUILDERS]
    intervals = next(form for form in forms.builders if form.name == "intervals")
    width = next(param for param in intervals.parameters if param.name == "width")
    assert (width.kind, width.required) == ("number", False)
    assert {official.id: official.levels for official in forms.lists}["cl-cut"] == ("province", "region")
    assert pickle.loads(pickle.dumps(forms)) == forms


def test_the_list_has_quasi_identifiers_then_sensitive_variables_and_never_an_identifier(folder: Path) -> None:
    listed = project_hierarchies(folder)
    assert [line.variable for line in listed.lines] == [PERTENENCIA, "EDAD_AÑOS", "COMUNA", "DIAG1"]
    age, diagnosis = listed.lines[1], listed.lines[3]
    assert (age.origin, age.needed, age.height) == ("default", True, 6)
    assert (diagnosis.origin, diagnosis.needed, diagnosis.height) == ("", False, None)
    quick = project_hierarchies(folder, measured=False)
    assert [replace(line, height=None) for line in listed.lines] == list(quick.lines)
    assert listed.digest == digest_of_file(folder / "celosia.toml")


def test_a_criterion_that_measures_in_a_tree_needs_the_sensitive_hierarchy(folder: Path) -> None:
    with (folder / "celosia.toml").open("a", encoding="utf-8") as file:
        file.write(
            '\n[policy]\ncriteria = [{criterion = "t", variable = "DIAG1", t = 0.5, distance = "hierarchical"}]\n'
        )
    line = project_hierarchies(folder).lines[3]
    assert (line.needed, line.origin, line.height) == (True, "default", 3)


# --- trying -------------------------------------------------------------------------------------------


@pytest.mark.requirement("M25")
def test_ages_from_0_to_118_in_tens_give_widths_10_20_40_80_160(folder: Path) -> None:
    before = files_of(folder)
    trial = try_hierarchy(folder, "EDAD_AÑOS", {"builder": "intervals", "width": 10, "start": 0, "end": 118})
    assert [level.width for level in trial.levels] == ["", "10", "20", "40", "80", "160"]
    assert labels(trial, 1)[:2] == ["0 a 9", "10 a 19"]
    assert [level.total for level in trial.levels] == [119, 12, 6, 3, 2, 1]
    assert trial.levels[1].groups[0].rows == 20
    assert [group.parent for group in trial.levels[1].groups] == [i // 2 for i in range(12)]
    assert (trial.problem, trial.gap_values) == ("", 0)
    assert files_of(folder) == before


@pytest.mark.requirement("M25")
def test_intervals_begin_with_the_range_of_the_data(folder: Path) -> None:
    trial = begin_hierarchy(folder, "EDAD_AÑOS", "intervals")
    assert {key: trial.spec[key] for key in ("width", "start", "end", "factor")} == {
        "width": 10,
        "start": 0,
        "end": 118,
        "factor": 2,
    }
    assert trial.height == 6  # the five widths and the top


@pytest.mark.requirement("M24")
def test_a_column_of_two_ordered_values_offers_levels_0_to_2(folder: Path) -> None:
    trial = begin_hierarchy(folder, PERTENENCIA, "order")
    assert [level.level for level in trial.levels] == [0, 1, 2]
    assert labels(trial, 1) == [f"{{{PRIVATE}, {PUBLIC}}}"]
    assert labels(trial, 2) == ["*"]


def test_an_order_given_by_hand_is_the_order_of_the_groups(folder: Path) -> None:
    trial = try_hierarchy(folder, PERTENENCIA, {"builder": "order", "order": [PUBLIC, PRIVATE], "label": "range"})
    assert labels(trial, 1) == [f"{PUBLIC} a {PRIVATE}"]


@pytest.mark.parametrize("builder", [b.name for b in BUILDERS if b.name not in ("groups", "tree")])
@pytest.mark.parametrize("variable", ["EDAD_AÑOS", "COMUNA", PERTENENCIA])
def test_every_kind_begins_with_something_that_shows_levels_or_a_sentence(
    folder: Path, builder: str, variable: str
) -> None:
    trial = begin_hierarchy(folder, variable, builder)
    assert trial.levels or trial.problem
    assert sum(group.rows for group in trial.levels[-1].groups) == 238


def test_masks_of_a_comuna_follow_region_and_province(folder: Path) -> None:
    trial = begin_hierarchy(folder, "COMUNA", "mask")
    assert labels(trial, 1)[0] == "053**"
    assert labels(trial, 2)[0] == "05***"
    assert "99999" in labels(trial, 2)  # an unknown code is a category of its own


def test_a_mask_of_ages_is_begun_with_the_width_that_keeps_the_short_ones(folder: Path) -> None:
    trial = begin_hierarchy(folder, "EDAD_AÑOS", "mask")
    width = max(len(value) for value in labels(trial, 0))
    assert (trial.spec["width"], trial.short_values) == (width, 0)
    assert "0" * (width - 1) + "*" in labels(trial, 1)


def test_numbers_that_a_mask_hides_whole_at_once_are_counted(folder: Path) -> None:
    trial = try_hierarchy(folder, "EDAD_AÑOS", {"builder": "mask", "steps": [1, 2, 3]})
    ages = labels(trial, 0)
    assert trial.short_values == sum(len(age) == 1 for age in ages) > 0
    assert trial.short_width == max(map(len, ages))
    assert try_hierarchy(folder, "EDAD_AÑOS", {**trial.spec, "width": trial.short_width}).short_values == 0
    assert try_hierarchy(folder, "COMUNA", {"builder": "mask"}).short_values == 0
    assert try_hierarchy(folder, "EDAD_AÑOS", {"builder": "mask", "steps": "x"}).short_values == 0


def test_values_without_a_group_are_counted_and_named_only_when_asked(folder: Path) -> None:
    spec = {"builder": "groups", "levels": [{"Valparaíso": ["05302", "05301"]}]}
    hidden = try_hierarchy(folder, "COMUNA", spec)
    assert (hidden.gap_values, hidden.gaps) == (2, ())
    assert hidden.gap_rows == 95
    assert "2" in hidden.problem
    assert "13101" not in hidden.problem
    assert try_hierarchy(folder, "COMUNA", spec, show_gaps=True).gaps == ("13101", "13120")
    sent = try_hierarchy(folder, "COMUNA", {**spec, "uncovered": "suppress"})
    assert (sent.problem, sent.gap_values) == ("", 2)


def test_a_wrong_parameter_is_a_sentence_and_not_an_error(folder: Path) -> None:
    trial = try_hierarchy(folder, "EDAD_AÑOS", {"builder": "intervals", "width": 10, "start": 50, "end": 10})
    assert trial.levels == ()
    assert "start, end, width" in trial.problem


def test_an_identifier_is_veiled_and_never_edited(folder: Path) -> None:
    trial = try_hierarchy(folder, "NOMBRE", {"builder": "groups", "levels": [{"a": ["b"]}]}, show_gaps=True)
    assert trial.veiled
    assert PLANTED not in repr(trial)
    with pytest.raises(IdentifierHasNoHierarchy):
        begin_tree(folder, "NOMBRE")
    lines = [replace(v, scale=Scale.FREE_TEXT) if v.name == "COMUNA" else v for v in open_project(folder).variables]
    (folder / "dictionary.csv").write_text(dictionary.dump(lines), "utf-8")
    assert "05302" not in repr(try_hierarchy(folder, "COMUNA", {"builder": "suppress"}))
    with pytest.raises(ValuesVeiled):
        begin_tree(folder, "COMUNA")
    with pytest.raises(IdentifierHasNoHierarchy):
        save_hierarchy(folder, "NOMBRE", {"builder": "suppress"})


def test_a_level_of_many_groups_is_cut_short_and_says_how_many_there_are(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("N,A\n" + "".join(f"{i},{i % 2}\n" for i in range(700)), "utf-8")
    made = init(tmp_path / "d.csv", tmp_path / "q", now=NOW).project.folder
    lines = [replace(v, role=Role.QUASI, purpose="x") for v in open_project(made).variables]
    (made / "dictionary.csv").write_text(dictionary.dump(lines), "utf-8")
    level = try_hierarchy(made, "N", {"builder": "suppress"}).levels[0]
    assert (len(level.groups), level.total, level.smallest) == (200, 700, 1)


def test_a_file_outside_the_project_is_not_read(folder: Path) -> None:
    write(folder.parent / "fuera.csv", [("05302", "V")])
    for name in ("../fuera.csv", str(folder.parent / "fuera.csv")):
        trial = try_hierarchy(folder, "COMUNA", {"file": name})
        assert trial.levels == ()
        assert trial.problem


def test_a_variable_that_is_not_there_is_refused_by_name(folder: Path) -> None:
    with pytest.raises(UnknownVariable):
        try_hierarchy(folder, "EDAD")


# --- saving -------------------------------------------------------------------------------------------


@pytest.mark.requirement("M24", "M25")
def test_fixed_levels_leave_one_column_as_it_is_and_publish_the_other_in_tens(folder: Path) -> None:
    save_hierarchy(folder, PERTENENCIA, {"builder": "order", "top": True}, 0, 0, now=NOW)
    save_hierarchy(folder, "EDAD_AÑOS", {"builder": "intervals", "width": 10, "end": 118}, 1, 1, now=NOW)
    make_plan(folder, k=2, limit=1, now=NOW)
    run_plan(folder, now=NOW)
    lines = (folder / "private" / "candidate" / "data.csv").read_text("utf-8").splitlines()
    header = lines[0].split(",")
    cells = [dict(zip(header, line.split(","), strict=True)) for line in lines[1:]]
    assert {row[PERTENENCIA] for row in cells} <= {PUBLIC, PRIVATE, "*"}
    bands = {f"{low} a {low + 9}" for low in range(0, 120, 10)}
    assert {row["EDAD_AÑOS"] for row in cells} <= bands | {"*"}


def test_saving_keeps_what_people_wrote(folder: Path) -> None:
    path = folder / "celosia.toml"
    with path.open("a", encoding="utf-8") as file:
        file.write("\n# nuestra política\n[policy]\nlimit = 0.1  # acordado en acta\n\n[hierarchies.COMUNA]\n")
        file.write('builder = "mask"  # dos, tres, cinco\nsteps = [2, 3, 5]\nmaximum = 2\n')
    saved = save_hierarchy(folder, "COMUNA", None, 1, 3, expected=digest_of_file(path), now=NOW)
    text = path.read_text("utf-8")
    assert "# nuestra política" in text
    assert "limit = 0.1  # acordado en acta" in text
    assert 'builder = "mask"  # dos, tres, cinco' in text
    assert config(folder, "COMUNA") == {"builder": "mask", "steps": [2, 3, 5], "minimum": 1, "maximum": 3}
    assert saved.digest == digest_of_file(path)
    save_hierarchy(folder, "EDAD_AÑOS", {"builder": "intervals", "width": 0.5, "end": 118, "whole": False}, now=NOW)
    assert config(folder, "EDAD_AÑOS")["width"] == 0.5
    assert config(folder, "COMUNA")["minimum"] == 1


def test_levels_of_the_proposal_can_be_chosen_without_describing_it(folder: Path) -> None:
    save_hierarchy(folder, "EDAD_AÑOS", {}, 1, None, now=NOW)
    assert config(folder, "EDAD_AÑOS") == {"minimum": 1}
    line = project_hierarchies(folder).lines[1]
    assert (line.origin, line.minimum, line.maximum) == ("default", 1, None)
    trial = try_hierarchy(folder, "EDAD_AÑOS")
    assert (trial.origin, trial.minimum, trial.spec["builder"]) == ("default", 1, "intervals")


def test_a_hierarchy_with_gaps_or_wrong_levels_is_not_saved(folder: Path) -> None:
    before = files_of(folder)
    with pytest.raises(ValuesOutsideBuilder):
        save_hierarchy(folder, "COMUNA", {"builder": "groups", "levels": [{"V": ["05302"]}]})
    with pytest.raises(LevelOutsideHierarchy):
        save_hierarchy(folder, PERTENENCIA, {"builder": "order", "top": True}, 0, 3)
    with pytest.raises(EditedMeanwhile):
        save_hierarchy(folder, PERTENENCIA, {"builder": "suppress"}, expected="sha256:0")
    assert files_of(folder) == before


def test_reset_returns_to_the_proposal(folder: Path) -> None:
    save_hierarchy(folder, "COMUNA", {"builder": "suppress"}, 1, 1, now=NOW)
    save_hierarchy(folder, "DIAG1", {"builder": "official", "list": "icd10"}, now=NOW)
    for variable in ("COMUNA", "DIAG1"):
        reset_hierarchy(folder, variable, now=NOW)
        assert config(folder, variable) == {}
    assert "hierarchies" not in read_toml(folder / "celosia.toml")


def test_the_journal_has_names_and_counts_and_no_value(folder: Path) -> None:
    save_hierarchy(folder, PERTENENCIA, {"builder": "order", "order": [PUBLIC, PRIVATE]}, 0, 1, now=NOW)
    entry = journal_entries(folder / "journal.jsonl")[-1]
    assert entry["what"] == "hierarchy"
    assert entry["facts"] == {"variable": PERTENENCIA, "origin": "order", "levels": 2, "minimum": 0, "maximum": 1}


# --- trees by hand ------------------------------------------------------------------------------------


def test_a_tree_is_edited_by_hand_and_saved_as_a_file_of_the_project(folder: Path) -> None:
    begin_tree(folder, "COMUNA", {"builder": "mask", "steps": [3]})
    edit_tree(folder, "COMUNA", {"do": "group", "level": 1, "members": ["13101", "13120"], "name": "Metropolitana"})
    edit_tree(folder, "COMUNA", {"do": "rename", "level": 1, "group": "05***", "name": "Valparaíso"})
    edit_tree(folder, "COMUNA", {"do": "add_level", "after": 1})
    edit_tree(
        folder, "COMUNA", {"do": "group", "level": 2, "members": ["Valparaíso", "Metropolitana"], "name": "Chile"}
    )
    edit_tree(folder, "COMUNA", {"do": "top"})
    assert config(folder, "COMUNA") == {}
    saved = save_hierarchy(folder, "COMUNA", {"draft": True}, 0, 3, now=NOW)
    assert saved.origin == "hierarchies/comuna.csv"
    assert config(folder, "COMUNA") == {"file": "hierarchies/comuna.csv", "minimum": 0, "maximum": 3}
    lines = (folder / "hierarchies" / "comuna.csv").read_text("utf-8").splitlines()
    assert {"13101;Metropolitana;Chile;*", "05302;Valparaíso;Chile;*", "99999;99999;99999;*"} <= set(lines)
    assert not project_hierarchies(folder).lines[2].draft
    make_plan(folder, k=2, limit=1, now=NOW)


def test_the_tree_is_looked_at_a_page_at_a_time_and_searched(folder: Path) -> None:
    begin_tree(folder, "EDAD_AÑOS")
    page = tree_page(folder, "EDAD_AÑOS", 1, start=10, at_most=5)
    assert [item.member for item in page.items] == ["10", "11", "12", "13", "14"]
    assert {item.group for item in page.items} == {"10 a 19"}
    assert (page.total, page.height, page.groups[0]) == (119, 6, "0 a 9")
    assert [item.member for item in tree_page(folder, "EDAD_AÑOS", 1, contains="118").items] == ["118"]
    second = tree_page(folder, "EDAD_AÑOS", 2)
    assert (second.items[0].member, second.items[0].group, second.items[0].rows) == ("0 a 9", "0 a 19", 20)


def test_a_change_made_on_another_state_of_the_draft_is_refused(folder: Path) -> None:
    seen = begin_tree(folder, "COMUNA", {"builder": "identity"})
    change = {"do": "group", "level": 1, "members": ["05301"], "name": "V"}
    after = edit_tree(folder, "COMUNA", change, expected=seen)
    with pytest.raises(EditedMeanwhile):
        edit_tree(folder, "COMUNA", change, expected=seen)
    assert tree_page(folder, "COMUNA").digest == after
    discard_tree(folder, "COMUNA")
    assert not project_hierarchies(folder).lines[2].draft


def test_an_imported_file_lists_its_gaps_before_anything_is_replaced(folder: Path) -> None:
    save_hierarchy(folder, "COMUNA", {"builder": "suppress"}, now=NOW)
    before = (folder / "celosia.toml").read_bytes()
    source = write(folder.parent / "regiones.csv", [("05302", "V", "*"), ("05301", "V", "*"), ("13101", "RM", "*")])
    trial = take_hierarchy(folder, "COMUNA", source)
    assert (trial.gap_values, trial.gaps, trial.height) == (1, ("13120",), 2)
    with pytest.raises(HierarchyGap):
        save_hierarchy(folder, "COMUNA", {"draft": True}, now=NOW)
    assert (folder / "celosia.toml").read_bytes() == before
    waiting = tree_page(folder, "COMUNA", only_gaps=True)
    assert [(item.member, item.placed) for item in waiting.items] == [("13120", False)]
    edit_tree(folder, "COMUNA", {"do": "group", "level": 1, "members": ["13120"], "name": "RM"})
    assert try_hierarchy(folder, "COMUNA", {"draft": True}).problem == ""
    saved = save_hierarchy(folder, "COMUNA", {"draft": True}, now=NOW)
    assert "13120;RM;*" in (folder / saved.origin).read_text("utf-8")


def test_gaps_of_a_file_may_go_to_the_star(folder: Path) -> None:
    take_hierarchy(folder, "COMUNA", write(folder.parent / "r.csv", [("05302", "V")]))
    save_hierarchy(folder, "COMUNA", {"draft": True, "uncovered": "suppress"}, now=NOW)
    assert config(folder, "COMUNA") == {"file": "hierarchies/comuna.csv", "uncovered": "suppress"}
    assert labels(try_hierarchy(folder, "COMUNA"), 1) == ["V", "*", "99999"]


def test_a_damaged_file_is_refused_and_leaves_no_draft(folder: Path) -> None:
    with pytest.raises(HierarchyRagged):
        take_hierarchy(folder, "COMUNA", write(folder.parent / "r.csv", [("05302", "V"), ("05301",)]))
    assert not project_hierarchies(folder).lines[2].draft


def test_what_is_tried_can_be_taken_out_before_it_is_saved(folder: Path) -> None:
    target = folder.parent / "arx.csv"
    spec = {"builder": "order", "order": [PUBLIC, PRIVATE], "label": "range", "top": True}
    assert export_tried(folder, PERTENENCIA, target, spec) == 2
    assert target.read_text("utf-8").splitlines()[0] == f"{PUBLIC};{PUBLIC} a {PRIVATE};*"
    with pytest.raises(IdentifierHasNoHierarchy):
        export_tried(folder, "NOMBRE", target, {"builder": "suppress"})


def test_values_are_put_in_order_by_size_or_by_code(folder: Path) -> None:
    assert values_in_order(folder, "EDAD_AÑOS")[8:12] == ("8", "9", "10", "11")
    assert values_in_order(folder, PERTENENCIA) == (PRIVATE, PUBLIC)


def test_saving_another_kind_gives_the_tree_being_edited_up(folder: Path) -> None:
    begin_tree(folder, "COMUNA")
    save_hierarchy(folder, "COMUNA", {"builder": "suppress"}, now=NOW)
    assert not project_hierarchies(folder, measured=False).lines[2].draft


def test_a_tree_begun_from_the_star_alone_has_a_level_for_groups(folder: Path) -> None:
    begin_tree(folder, PERTENENCIA, {"builder": "suppress"})
    page = tree_page(folder, PERTENENCIA)
    assert [(item.member, item.group) for item in page.items] == [(PRIVATE, PRIVATE), (PUBLIC, PUBLIC)]
    assert labels(try_hierarchy(folder, PERTENENCIA, {"draft": True}), 2) == ["*"]
