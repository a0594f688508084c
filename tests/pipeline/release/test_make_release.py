"""A candidate becomes a release only when every rule holds, and the release holds nothing but what may be public."""

from __future__ import annotations

import csv
import getpass
import io
import json
import re
import shutil
import stat
import zipfile
import zlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow.parquet as pq
import pyreadstat
import pytest

from celosia.errors import CelosiaError
from celosia.model import dictionary
from celosia.model.releases import manifest_from
from celosia.model.value_errors import ValueOutOfRange
from celosia.model.variables import Role, Scale
from celosia.pipeline.assessment.errors import NoCandidate
from celosia.pipeline.candidate.approvals import approve
from celosia.pipeline.candidate.errors import CandidateChanged, NoProtocolNamed, PlanStale, RoleNotHeld
from celosia.pipeline.candidate.run import run_plan
from celosia.pipeline.candidate.verifier_check import check_candidate
from celosia.pipeline.intake.init_project import init
from celosia.pipeline.planning.plan import make_plan
from celosia.pipeline.project.edits import add_person
from celosia.pipeline.project.errors import JournalBroken, NotInRoster, PseudonymsRefused, RosterDisagrees, SeedMissing
from celosia.pipeline.project.folder import open_project
from celosia.pipeline.project.roster_edits import revoke_person
from celosia.pipeline.release.errors import AlreadySigned, ReleaseDamaged, RulesFail, SignerNotInRelease
from celosia.pipeline.release.folder import read_release
from celosia.pipeline.release.make_release import make_release, sign_release
from celosia.storage import DiskFull
from tests.projects import steps
from tests.projects.discharges import REQUEST, approve_candidate, make_keys, make_project, run_to_approved_candidate
from tests.projects.steps import NOW, OTHER_PUBLIC_KEY, PHRASE

NOISE = """
[[steps]]
technique = "swap"
columns = ["PREVISION"]
share = 0.1
"""
T_CLOSE = """
[policy]
criteria = [{criterion = "k", k = 2}, {criterion = "distinct_l", variable = "DIAG1", l = 2}, \
{criterion = "t", variable = "DIAG1", t = 0.99}]
"""


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    return make_keys(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="module")
def walk(people, tmp_path_factory) -> Path:
    return run_to_approved_candidate(make_project(tmp_path_factory.mktemp("walk") / "egresos", people), people)


@pytest.fixture(scope="module")
def noisy(people, tmp_path_factory) -> Path:
    return run_to_approved_candidate(make_project(tmp_path_factory.mktemp("noisy") / "egresos", people, NOISE), people)


@pytest.fixture
def folder(walk, tmp_path) -> Path:
    return Path(shutil.copytree(walk, tmp_path / "egresos"))


def test_a_release_is_the_judged_file_its_dictionary_its_manifest_and_public_papers(folder):
    made = make_release(folder, now=NOW)
    names = {path.relative_to(made.folder).as_posix() for path in made.folder.rglob("*") if path.is_file()}
    assert names == {"data.csv", "dictionary.csv", "manifest.json", "roster.jsonl", "dossier/public_report.html",
                     "dossier/public_report.pdf"}  # fmt: skip
    assert (made.folder / "data.csv").read_bytes() == (folder / "private/candidate/data.csv").read_bytes()
    assert made.folder == folder / "releases" / "2026-11-15"
    assert (made.folder / "signatures").is_dir()
    assert manifest_from(json.loads((made.folder / "manifest.json").read_text("utf-8"))).digest == made.manifest.digest


@pytest.mark.requirement("M21", "M36")
def test_the_public_dictionary_tells_of_published_variables_only_and_of_nothing_internal(folder):
    made = make_release(folder, now=NOW)
    variables = dictionary.load((made.folder / "dictionary.csv").read_text("utf-8"), "-")
    assert [v.name for v in variables] == list(made.manifest.published)
    assert all(v.role and v.scale and v.label for v in variables)
    assert not any(v.purpose or v.evidence or v.treatment or v.missing for v in variables)


def test_labels_of_codes_that_the_file_does_not_show_stay_in_the_house(people, tmp_path):
    folder = make_project(tmp_path / "egresos", people)
    codes = (("HOMBRE", "Hombre"), ("MUJER", "Mujer"), ("OCULTO", "Código que nadie tiene"))
    lines = [replace(v, value_labels=codes) if v.name == "SEXO" else v for v in open_project(folder).variables]
    (folder / "dictionary.csv").write_text(dictionary.dump(lines), "utf-8")
    made = make_release(run_to_approved_candidate(folder, people), now=NOW)
    shown = {v.name: v for v in dictionary.load((made.folder / "dictionary.csv").read_text("utf-8"), "-")}
    values = {row["SEXO"] for row in csv.DictReader((made.folder / "data.csv").open(encoding="utf-8"))}
    assert {code for code, _ in shown["SEXO"].value_labels} == values & {"HOMBRE", "MUJER"}


def test_a_second_release_of_the_same_day_stands_beside_the_first(folder):
    first, second, third = (make_release(folder, now=NOW).folder for _ in range(3))
    assert [one.name for one in (first, second, third)] == ["2026-11-15", "2026-11-15-2", "2026-11-15-3"]
    assert all((one / "manifest.json").is_file() for one in (first, second, third))
    assert not [path for path in first.parent.iterdir() if path.name.startswith(".")]


def test_no_release_signature_or_person_stands_that_the_journal_could_not_name(folder, people, monkeypatch):
    made = make_release(folder, now=NOW).folder
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    full = type(shutil.disk_usage(folder))(10**9, 10**9, 0)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: full)
    for act in (
        lambda: make_release(folder, now=NOW, destroy_seed=True),
        lambda: sign_release(made, folder, people["head"], "head", now=NOW),
        lambda: add_person(folder, "Eva Soto", ["head"], OTHER_PUBLIC_KEY, now=NOW),
        lambda: make_plan(folder, now=NOW),
        lambda: run_plan(folder, now=NOW),
    ):
        with pytest.raises(DiskFull):
            act()
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_files_carry_the_day_of_the_release_and_plain_modes(folder):
    made = make_release(folder, now=NOW, formats=("csv", "xlsx"))
    midnight = datetime(2026, 11, 15, tzinfo=UTC).timestamp()
    for path in (made.folder, *made.folder.rglob("*")):
        found = path.stat()
        assert found.st_mtime == midnight
        assert stat.S_IMODE(found.st_mode) == (0o755 if path.is_dir() else 0o644)


@pytest.mark.requirement("M36", "P21")
def test_nothing_private_is_anywhere_in_a_release(noisy, tmp_path):
    folder = Path(shutil.copytree(noisy, tmp_path / "egresos"))
    seed = (folder / "private" / "seed").read_bytes()
    made = make_release(folder, now=NOW, formats=("csv", "parquet", "sav", "dta", "xlsx"))
    with (noisy.parent / "egresos.csv").open(encoding="windows-1252", newline="") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    direct = [v.name for v in open_project(folder).variables if v.role == Role.IDENTIFIER]
    assert direct
    planted = {row[name] for row in rows for name in direct if len(row.get(name, "")) > 6}
    assert len(planted) > 1000
    secrets = {seed, seed.hex().encode(), str(folder).encode(), str(noisy).encode(), *(v.encode() for v in planted)}
    if (user := getpass.getuser()) != "root":
        secrets.add(user.encode())
    content = b"\n".join(piece for path in made.folder.rglob("*") if path.is_file() for piece in layers(path))
    assert [secret for secret in secrets if secret in content] == []
    assert made.manifest.seed == "kept"


def layers(path: Path) -> list[bytes]:
    """A file's bytes, and what is packed in them."""
    raw = path.read_bytes()
    found = [raw]
    if path.suffix in (".xlsx", ".docx"):
        with zipfile.ZipFile(io.BytesIO(raw)) as book:
            found += [book.read(name) for name in book.namelist()]
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        found += ["\n".join(column.to_pylist()).encode() for column in table.columns] + [str(table.schema).encode()]
    if path.suffix == ".pdf":
        for part in re.findall(rb"stream\r?\n(.*?)endstream", raw, re.DOTALL):
            unpacked = zlib.decompressobj()
            try:
                found.append(unpacked.decompress(part))
            except zlib.error:
                continue
    return found


def test_the_other_formats_hold_the_same_rows_with_their_labels(folder):
    made = make_release(folder, now=NOW, formats=("csv", "parquet", "sav", "dta", "xlsx"))
    with (made.folder / "data.csv").open(encoding="utf-8", newline="") as file:
        rows = sorted(tuple(row) for row in list(csv.reader(file))[1:])
    parquet = pq.read_table(made.folder / "data.parquet")
    assert sorted(zip(*(column.to_pylist() for column in parquet.columns), strict=True)) == rows
    for read, name in ((pyreadstat.read_sav, "data.sav"), (pyreadstat.read_dta, "data.dta")):
        frame, meta = read(str(made.folder / name))
        assert sorted(tuple(row) for row in frame.itertuples(index=False)) == rows
        assert meta.column_names_to_labels["SEXO"]


def test_a_workbook_does_not_tell_when_it_was_made(folder):
    made = make_release(folder, now=NOW, formats=("xlsx",))
    with zipfile.ZipFile(made.folder / "data.xlsx") as book:
        core = book.read("docProps/core.xml").decode()
    assert "1980-01-01T00:00:00Z" in core
    assert "2026-" not in core


def test_a_release_carries_the_roster_and_the_manifest_what_its_people_approved(folder):
    made = make_release(folder, now=NOW)
    manifest, roster = made.manifest, read_release(made.folder).roster
    assert {member.name for member in roster.current} == {"Ana Rojas", "Beto Soto", "Carla Díaz"}
    assert (made.folder / "roster.jsonl").read_bytes() == (folder / "roster.jsonl").read_bytes()
    assert [one["what"] for one in manifest.approvals] == ["plan", "intruder", "candidate"]
    assert manifest.files["data.csv"] == manifest.covered["candidate"]
    assert manifest.policy["hierarchies"] == {}
    assert manifest.about["licence"] == "CC BY 4.0"


# --- formulas -------------------------------------------------------------------------------------


def test_no_cell_of_a_release_runs_as_a_formula_and_the_file_is_still_the_judged_one(people, tmp_path):
    raw = tmp_path / "raw.csv"
    cells = ["=cmd()", "+suma", "@SUM(1)", "-2", "normal"]
    lines = [f"{cells[i % 5]},{'M' if i % 2 else 'H'},{20 + i % 3}" for i in range(120)]
    raw.write_text("GRUPO,SEXO,EDAD\n" + "\n".join(lines) + "\n", "utf-8")
    folder = init(str(raw), tmp_path / "p", ("minsal",), now=NOW).project.folder
    roles = {"GRUPO": Role.QUASI, "SEXO": Role.QUASI, "EDAD": Role.SENSITIVE}
    written = [
        replace(v, purpose="estudio", role=roles[v.name], scale=Scale.CATEGORICAL, label="=HYPERLINK()")
        for v in open_project(folder).variables
    ]
    (folder / "dictionary.csv").write_text(dictionary.dump(written), "utf-8")
    (folder / "request.toml").write_text(REQUEST, "utf-8")
    steps.register_people(folder, people, {role: (role,) for role in people})
    made = make_release(run_to_approved_candidate(folder, people), now=NOW, formats=("csv", "xlsx"))
    with (made.folder / "data.csv").open(encoding="utf-8", newline="") as file:
        shown = {row["GRUPO"] for row in csv.DictReader(file)}
    assert shown == {"'=cmd()", "'+suma", "'@SUM(1)", "-2", "normal"}
    assert (made.folder / "data.csv").read_bytes() == (folder / "private/candidate/data.csv").read_bytes()
    with zipfile.ZipFile(made.folder / "data.xlsx") as book:
        assert not [name for name in book.namelist() if b"<f>" in book.read(name)]
    assert "'=HYPERLINK()" in (made.folder / "dictionary.csv").read_text("utf-8")


# --- reference distributions ----------------------------------------------------------------------


def test_the_source_distribution_is_told_only_where_no_small_group_can_be_read_from_it(people, tmp_path):
    folder = make_project(tmp_path / "egresos", people, T_CLOSE)
    made = make_release(run_to_approved_candidate(folder, people), now=NOW)
    with (made.folder / "data.csv").open(encoding="utf-8", newline="") as file:
        shown: dict[str, int] = {}
        for row in csv.DictReader(file):
            shown[row["DIAG1"]] = shown.get(row["DIAG1"], 0) + 1
    for told in made.manifest.references.values():
        hidden = [rows - shown[value] for value, rows in told["counts"].items()]
        assert all(rows == 0 or rows >= 2 for rows in hidden)
        assert set(told["counts"]) <= set(shown)
    masked = shown.get("*", 0)
    assert ("DIAG1" in made.manifest.references) or masked


# --- refusals -------------------------------------------------------------------------------------


def test_without_a_candidate_there_is_no_release(people, tmp_path):
    folder = make_project(tmp_path / "egresos", people)
    make_plan(folder, now=NOW)
    with pytest.raises(NoCandidate):
        make_release(folder, now=NOW)


def edit_data(folder: Path) -> None:
    path = folder / "private/candidate/data.csv"
    path.write_bytes(path.read_bytes().replace(b"MUJER", b"HOMBRE", 1))


def edit_dictionary(folder: Path) -> None:
    path = folder / "dictionary.csv"
    path.write_text(path.read_text("utf-8").replace("estudio", "otro estudio", 1), "utf-8")


def edit_policy(folder: Path) -> None:
    with (folder / "celosia.toml").open("a", encoding="utf-8") as file:
        file.write("\n[policy]\nlimit = 0.5\n")


def edit_plan(folder: Path) -> None:
    make_plan(folder, now=NOW, k=3)


def edit_order(folder: Path) -> None:
    path = folder / "private/candidate/order.parquet"
    table = pq.read_table(path)
    pq.write_table(table.set_column(0, "person", [[f"p{i}" for i in range(len(table))]]), path)


def edit_journal(folder: Path) -> None:
    path = folder / "journal.jsonl"
    path.write_text(path.read_text("utf-8").replace('"what": "run"', '"what": "ran"'), "utf-8")


def edit_verdict(folder: Path) -> None:
    (folder / "private/candidate/verdict.json").unlink()


def keep_key(folder: Path) -> None:
    (folder / "private/keys").mkdir()
    (folder / "private/keys/1.key").write_text("celosia/key/1\n", "utf-8")


def forget_approvals(folder: Path) -> None:
    (folder / "approvals.jsonl").unlink()


def forget_claims(folder: Path) -> None:
    (folder / "claims.csv").unlink()


def forget_request(folder: Path) -> None:
    (folder / "request.toml").unlink()


def forget_protocol(folder: Path) -> None:
    path = folder / "celosia.toml"
    path.write_text(path.read_text("utf-8").replace('["minsal"]', "[]"), "utf-8")


BREACHES = (
    (edit_data, CelosiaError), (edit_dictionary, PlanStale), (edit_policy, PlanStale), (edit_plan, CandidateChanged),
    (edit_order, CandidateChanged), (edit_journal, JournalBroken), (edit_verdict, CandidateChanged),
    (keep_key, PseudonymsRefused), (forget_approvals, RulesFail), (forget_claims, RulesFail),
    (forget_request, RulesFail), (forget_protocol, (NoProtocolNamed, PlanStale)),
)  # fmt: skip


@pytest.mark.requirement("M31", "P21")
@pytest.mark.parametrize(("breach", "error"), BREACHES, ids=lambda one: getattr(one, "__name__", ""))
def test_whatever_was_touched_or_left_out_stops_the_release(folder, breach, error):
    breach(folder)
    with pytest.raises(error):
        make_release(folder, now=NOW)
    assert not list((folder / "releases").glob("*")) if (folder / "releases").exists() else True


def test_an_unknown_format_is_refused_before_anything_else(folder):
    with pytest.raises(ValueOutOfRange):
        make_release(folder, now=NOW, formats=("csv", "doc"))


# --- the seed -------------------------------------------------------------------------------------


def test_the_seed_can_be_destroyed_with_the_release_and_the_manifest_says_so(noisy, tmp_path):
    folder = Path(shutil.copytree(noisy, tmp_path / "egresos"))
    made = make_release(folder, now=NOW, destroy_seed=True)
    assert made.manifest.seed == "destroyed"
    assert not (folder / "private" / "seed").exists()
    with pytest.raises(SeedMissing):
        make_release(folder, now=NOW)


def test_without_chance_there_is_no_seed_to_speak_of(folder):
    assert make_release(folder, now=NOW, destroy_seed=True).manifest.seed == "none"


# --- the verifier's look --------------------------------------------------------------------------


@pytest.mark.requirement("M31")
def test_the_verifiers_check_judges_the_file_and_not_the_verdict_beside_it(folder):
    assert check_candidate(folder, now=NOW).holds
    path = folder / "private/candidate/verdict.json"
    lying = {**json.loads(path.read_text("utf-8")), "k": 99}
    path.write_text(json.dumps(lying), "utf-8")
    assert check_candidate(folder, now=NOW).check.k != 99


@pytest.mark.requirement("M31")
def test_a_file_edited_by_hand_does_not_pass_the_verifier(folder):
    path = folder / "private/candidate/data.csv"
    lines = path.read_text("utf-8").splitlines()
    cells = lines[-1].split(",")
    lines[-1] = ",".join(["MUJER" if cells[0] != "MUJER" else "HOMBRE", "77", "05302", *cells[3:]])
    path.write_text("\n".join(lines) + "\n", "utf-8")
    found = check_candidate(folder, now=NOW)
    assert not found.agrees
    assert not found.holds


# --- signatures -----------------------------------------------------------------------------------


@pytest.mark.requirement("M31", "M33")
def test_people_sign_in_their_own_roles_once_each(folder, people):
    made = make_release(folder, now=NOW)
    for role, person in people.items():
        signed = sign_release(made.folder, None, person, role, now=NOW)
        assert signed.digest == made.manifest.digest
    assert sorted(path.name for path in (made.folder / "signatures").iterdir()) == [
        "executor-1.json", "head-1.json", "verifier-1.json"]  # fmt: skip
    with pytest.raises(AlreadySigned, match=r"«jefatura responsable» \(head\)"):
        sign_release(made.folder, folder, people["head"], "head", now=NOW)
    with pytest.raises(RoleNotHeld, match=r"«quien verifica» \(verifier\)"):
        sign_release(made.folder, folder, people["head"], "verifier", now=NOW)


@pytest.mark.requirement("M31")
def test_who_verified_cannot_execute_even_with_another_key_and_role(folder, people, tmp_path):
    revoke_person(folder, people["verifier"].name, people["head"], now=NOW + timedelta(minutes=1))
    again = steps.make_keys(tmp_path / "again", {"executor": people["verifier"].name})["executor"]
    add_person(folder, again.name, ("executor",), again.key, now=NOW + timedelta(minutes=1))
    steps.sign_people(folder, [people["head"]], NOW + timedelta(minutes=1))
    with pytest.raises(RulesFail):
        make_release(folder, now=NOW + timedelta(minutes=2))  # nobody else verified any more


@pytest.mark.requirement("M31")
def test_who_came_after_the_release_is_refused_with_the_way_out_and_the_release_stays_whole(folder, people, tmp_path):
    made = make_release(folder, now=NOW)
    late = steps.make_keys(tmp_path / "late", {"head": "Eva Soto"})["head"]
    add_person(folder, late.name, ("head",), late.key, now=NOW)
    with pytest.raises(NotInRoster, match="celosia people sign"):
        sign_release(made.folder, folder, late, "head", now=NOW)
    steps.sign_people(folder, [people["head"]])
    with pytest.raises(SignerNotInRelease, match="celosia release"):
        sign_release(made.folder, folder, late, "head", now=NOW)
    assert not list((made.folder / "signatures").iterdir())
    sign_release(made.folder, folder, people["head"], "head", now=NOW)
    again = make_release(folder, now=NOW)  # the way out
    assert sign_release(again.folder, folder, late, "head", now=NOW).digest == again.manifest.digest


def test_a_role_written_into_people_toml_after_the_release_does_not_sign_it(folder, people):
    made = make_release(folder, now=NOW)
    path = folder / "people.toml"
    path.write_text(path.read_text("utf-8").replace('["head"]', '["head", "delegate"]'), "utf-8")
    with pytest.raises(RosterDisagrees, match=people["head"].name):
        sign_release(made.folder, folder, people["head"], "delegate", now=NOW)


def test_nobody_signs_a_release_whose_files_were_touched(folder, people):
    made = make_release(folder, now=NOW)
    (made.folder / "data.csv").write_text("otra cosa\n", "utf-8")
    with pytest.raises(ReleaseDamaged):
        sign_release(made.folder, folder, people["head"], "head", now=NOW)


def test_a_new_run_needs_a_new_approval_of_its_candidate(folder, people):
    make_plan(folder, now=NOW, k=4)
    approve(folder, "plan", people["head"], "head", now=NOW)
    run_plan(folder, now=NOW)
    with pytest.raises(RulesFail):
        make_release(folder, now=NOW)
    approve_candidate(folder, people)
    assert make_release(folder, now=NOW).manifest.policy["criteria"][0]["k"] == 4
    assert PHRASE not in (folder / "journal.jsonl").read_text("utf-8")
