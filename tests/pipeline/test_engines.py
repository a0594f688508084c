"""One project, the same plan, bytes and verdict wherever it is counted: DuckDB, PostgreSQL, Spark, or in place."""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from celosia.data.candidate import write_candidate
from celosia.data.errors import EmptyTable, EngineDenied, EngineLost, EngineUnreachable, UnknownEngine
from celosia.demo.synthetic.discharges import write_discharges
from celosia.model import dictionary
from celosia.model.value_errors import ValueOutOfRange
from celosia.model.variables import Role, Scale, Treatment
from celosia.pipeline.assessment.evaluate import evaluate
from celosia.pipeline.assessment.on_files import measure, profile
from celosia.pipeline.candidate import run as _run
from celosia.pipeline.candidate.errors import CandidateChanged, PlanStale
from celosia.pipeline.candidate.run import run_plan
from celosia.pipeline.candidate.verifier_check import recheck_candidate, refuse_changed
from celosia.pipeline.intake.errors import DataElsewhere, EngineAddressUnset, SourceMoved
from celosia.pipeline.intake.init_project import init
from celosia.pipeline.intake.open_table import open_table
from celosia.pipeline.intake.preview import preview_project
from celosia.pipeline.planning.plan import make_plan
from celosia.pipeline.project.errors import PasswordInAddress, WrongSetting
from celosia.pipeline.project.folder import Project, open_project
from celosia.pipeline.release.make_release import make_release, sign_release
from celosia.pipeline.release.verify import verify_release
from celosia.workbench.errors import NotOnThisEngine
from celosia.workbench.result import side_by_side
from tests.projects.discharges import describe_project, make_keys, run_to_approved_candidate
from tests.projects.steps import NOW

ENGINES = (
    pytest.param("postgres_url", id="postgres", marks=pytest.mark.postgres),
    pytest.param("icu_url", id="icu", marks=pytest.mark.postgres),
    pytest.param("spark", id="spark", marks=[pytest.mark.spark, pytest.mark.slow, pytest.mark.xdist_group("spark")]),
)
HEADER = ("RUN", "SEXO", "EDAD", "COMUNA", "DIAG", "CAPITULO", "NOTA")
ROLES = {"SEXO": Role.QUASI, "EDAD": Role.QUASI, "COMUNA": Role.QUASI, "DIAG": Role.SENSITIVE,
         "CAPITULO": Role.PLAIN, "NOTA": Role.PLAIN}  # fmt: skip
COMUNAS = ("05302", "5302", "Ñuñoa", "ñuñoa", "99999", "", "*")
NOTES = ("it's", 'dice "sí"', "dos\nlíneas", "a,b", "\\N", "=1+1", "", "ch", "CH", "ll", "z", "Z", "ñ")
TOML = """
[policy]
criteria = [{criterion = "k", k = 3}, {criterion = "distinct_l", variable = "DIAG", l = 2}]
limit = 0.9

[[steps]]
technique = "mask"
columns = ["NOTA"]
keep = 2
"""


def rows() -> list[tuple[str, ...]]:
    """People with one, two or three rows; every kind of cell that engines are known to treat differently."""
    chance, found = random.Random(11), []
    for i in range(180):
        person = f"{i * 7 % 120:03d}-ñ'{i % 3}"
        diagnosis = chance.choices(("", "*", "C50", "C51", "J18"), (1, 1, 6, 4, 6))[0]
        age = chance.choices(("7", "07", "44", "99999", ""), (8, 1, 8, 2, 1))[0]
        comuna = chance.choices(COMUNAS, (9, 3, 9, 1, 2, 1, 1))[0]
        found.append((person, chance.choice("HM"), age, comuna, diagnosis, diagnosis[:1], NOTES[i % 13]))
    return found


def csv_of(path: Path) -> Path:
    quoted = [",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in (HEADER, *rows())]
    path.write_text("\n".join(quoted) + "\n", "utf-8")
    return path


def described(folder: Path) -> Path:
    """The dictionary and the settings, as a person would leave them."""
    lines = [
        replace(
            line, label=line.name, role=ROLES.get(line.name, Role.IDENTIFIER), scale=Scale.CATEGORICAL,
            purpose="estudio" if line.name in ROLES else "", unknown=("99999",) if line.name in ROLES else (),
            treatment=Treatment.KEEP if line.name in ROLES else Treatment.REMOVE,
        )
        for line in open_project(folder).variables
    ]  # fmt: skip
    (folder / "dictionary.csv").write_text(dictionary.dump(lines), "utf-8")
    with (folder / "celosia.toml").open("a", encoding="utf-8") as file:
        file.write(TOML)
    return folder


def from_file(place: Path, **choices: Any) -> Path:
    made = init(str(csv_of(place / "egresos.csv")), place / "p", person="RUN", now=NOW, **choices)
    return described(made.project.folder)


def outcome(folder: Path) -> dict[str, Any]:
    """What must not depend on the engine."""
    candidate = folder / "private" / "candidate"
    plan = json.loads((folder / "plan.json").read_text("utf-8"))
    verdict = json.loads((candidate / "verdict.json").read_text("utf-8"))
    return {"plan": plan, "data": (candidate / "data.csv").read_bytes(), "verdict": verdict}


@pytest.fixture(scope="session")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The project on DuckDB."""
    folder = from_file(tmp_path_factory.mktemp("duckdb"))
    make_plan(folder, now=NOW)
    run_plan(folder, now=NOW)
    return outcome(folder)


@pytest.fixture
def address(request: pytest.FixtureRequest) -> str:
    """How the engine under test is asked for."""
    if request.param == "spark":
        request.getfixturevalue("spark_engine")
        return "local[2]"
    return str(request.getfixturevalue(request.param))


def test_the_project_meets_what_engines_confuse(expected: dict[str, Any]) -> None:
    text = expected["data"].decode()
    assert expected["verdict"]["k_persons"] >= 3
    assert all(mark in text for mark in ("99999", "*", "ñ", "05302"))
    assert 0 < expected["verdict"]["suppressed_rows"] < 180
    assert expected["plan"]["followers"]


@pytest.mark.parametrize("address", ENGINES, indirect=True)
def test_plan_bytes_and_verdict_are_those_of_duckdb(address: str, expected: dict[str, Any], tmp_path: Path) -> None:
    folder = from_file(tmp_path)
    make_plan(folder, now=NOW, engine=address)
    run_plan(folder, now=NOW, engine=address, memory="1GB")
    assert outcome(folder) == expected
    refuse_changed(recheck_candidate(open_project(folder), engine=address))
    refuse_changed(recheck_candidate(open_project(folder)))  # a candidate is judged alike on another engine
    assert side_by_side(folder).of == 180
    assert sorted(keys_on_disk(folder)) == ["sample.parquet", "working.parquet"]  # of the source alone: not the order


# --- where the data live ----------------------------------------------------------------------------


@pytest.fixture
def database(own_database: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A database that holds the same rows as the file, NULL for what is missing, and its address in the environment."""
    import psycopg

    columns = ", ".join(f'"{name}" text' for name in HEADER)
    places = ", ".join(["%s"] * len(HEADER))
    with psycopg.connect(own_database, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA salud")
        connection.execute(f"CREATE TABLE salud.egresos ({columns})")
        cells = [[cell or None for cell in row] for row in reversed(rows())]
        connection.cursor().executemany(f"INSERT INTO salud.egresos VALUES ({places})", cells)
    monkeypatch.setenv("REGISTRO", own_database)
    return own_database


def in_place(place: Path, **choices: Any) -> Path:
    made = init(
        "env:REGISTRO", place / "p", person="RUN", now=NOW, engine="postgresql", sheet="salud.egresos", **choices
    )
    return described(made.project.folder)


def keys_on_disk(folder: Path) -> list[str]:
    """Files of the project that hold a person's key."""
    key = "119-ñ'"
    found = []
    for path in (path for path in folder.rglob("*") if path.is_file()):
        found += [path.name] if key in _content(path) else []
    return found


def _content(path: Path) -> str:
    if path.suffix == ".parquet":
        return str(pq.read_table(path).to_pydict())
    if path.suffix == ".npz":
        with np.load(path) as arrays:
            return str([array.tobytes().decode("utf-8", "ignore") for array in arrays.values()])
    return path.read_bytes().decode()


@pytest.mark.postgres
def test_rows_that_stay_in_the_database_give_the_bytes_of_the_file(
    database: str, expected: dict[str, Any], tmp_path: Path
) -> None:
    folder = in_place(tmp_path)
    assert not (folder / "private" / "working.parquet").exists()
    assert 'engine = "postgresql"' in (folder / "celosia.toml").read_text("utf-8")
    make_plan(folder, now=NOW)
    ran = run_plan(folder, now=NOW)
    found = outcome(folder)
    assert found["data"] == expected["data"]
    assert found["verdict"] == expected["verdict"]
    assert found["plan"]["notes"] == expected["plan"]["notes"]
    assert not ran.sampled
    assert keys_on_disk(folder) == []
    refuse_changed(recheck_candidate(open_project(folder)))
    with pytest.raises(NotOnThisEngine):
        side_by_side(folder)


@pytest.mark.postgres
def test_every_look_at_a_project_works_where_the_rows_are(database: str, tmp_path: Path) -> None:
    folder, copied = in_place(tmp_path), tmp_path / "copied"
    copied.mkdir()
    file = from_file(copied)
    assert measure(folder, ["SEXO", "EDAD"], ["DIAG"]).as_dict() == measure(file, ["SEXO", "EDAD"], ["DIAG"]).as_dict()
    assert profile(folder).variables == profile(file).variables
    page = preview_project(folder, rows=5, offset=178)
    assert (page.total, len(page.rows)) == (180, 2)
    make_plan(folder, now=NOW)
    run_plan(folder, now=NOW)
    assert evaluate(folder).as_dict()["after"]["rows"] == 180


@pytest.mark.postgres
def test_a_table_without_rows_is_refused_where_it_stays(database: str, tmp_path: Path) -> None:
    import psycopg

    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("DELETE FROM salud.egresos")
    with pytest.raises(EmptyTable, match=r"La tabla «salud\.egresos»"):
        in_place(tmp_path)


@pytest.mark.postgres
def test_a_table_that_changed_stops_the_plan_and_the_run(database: str, tmp_path: Path) -> None:
    import psycopg

    folder = in_place(tmp_path)
    make_plan(folder, now=NOW)
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("""UPDATE salud.egresos SET "DIAG" = 'J18' WHERE "DIAG" = 'C50'""")
    with pytest.raises(PlanStale):
        run_plan(folder, now=NOW)
    with pytest.raises(SourceMoved):
        make_plan(folder, now=NOW)


@pytest.fixture
def reader(database: str) -> Iterator[str]:
    """The address of a user who was granted nothing, with a password; PUBLIC may not make temporary tables."""
    import psycopg

    name = f"r{uuid.uuid4().hex}"
    with psycopg.connect(database, autocommit=True) as connection:
        base = connection.info.dbname
        connection.execute(f"CREATE ROLE {name} LOGIN PASSWORD 'S3creto'")
        connection.execute(f"GRANT USAGE ON SCHEMA salud TO {name}")
        connection.execute(f"REVOKE TEMPORARY ON DATABASE {base} FROM PUBLIC")
        yield database.replace("postgres:@", f"{name}:S3creto@")
        connection.execute(f"DROP OWNED BY {name}")
        connection.execute(f"DROP ROLE {name}")


@pytest.mark.postgres
def test_a_user_without_the_rights_is_told_which_ones_are_needed(database: str, reader: str, tmp_path: Path) -> None:
    import psycopg

    folder = in_place(tmp_path)
    make_plan(folder, now=NOW)
    name = reader.split("//")[1].split(":")[0]
    with psycopg.connect(database, autocommit=True) as connection:
        refused = [_denied(folder, reader)]
        connection.execute(f"GRANT SELECT ON salud.egresos TO {name}")
        refused.append(_denied(folder, reader))
        connection.execute(f"GRANT TEMPORARY ON DATABASE {connection.info.dbname} TO {name}")
    assert all("SELECT" in said and "TEMPORARY" in said and "S3creto" not in said for said in refused)
    run_plan(folder, now=NOW, engine=reader)


def _denied(folder: Path, address: str) -> str:
    with pytest.raises(EngineDenied) as refused:
        run_plan(folder, now=NOW, engine=address)
    return str(refused.value)


@pytest.mark.postgres
def test_a_connection_cut_in_mid_run_is_named_and_leaves_nothing(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import psycopg

    folder = in_place(tmp_path)
    make_plan(folder, now=NOW)
    before = sorted(path.name for path in (folder / "private").iterdir())

    def cut(*given: Any) -> Path | None:
        with psycopg.connect(database, autocommit=True) as connection:
            ours = (
                "SELECT pid FROM pg_stat_activity WHERE application_name = 'celosia' AND datname = current_database()"
            )
            connection.execute(f"SELECT pg_terminate_backend(pid) FROM ({ours}) AS ours")
        return write_candidate(*given)

    monkeypatch.setattr(_run, "write_candidate", cut)
    with pytest.raises(EngineLost):
        run_plan(folder, now=NOW)
    assert sorted(path.name for path in (folder / "private").iterdir()) == before


@pytest.mark.postgres
def test_where_the_rows_are_must_be_said_and_cannot_be_elsewhere(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = in_place(tmp_path)
    assert database not in (folder / "private" / "place.json").read_text("utf-8")
    with pytest.raises(DataElsewhere):
        make_plan(folder, engine="duckdb")
    monkeypatch.delenv("REGISTRO")
    with pytest.raises(EngineAddressUnset) as refused:
        make_plan(folder)
    assert "REGISTRO" in str(refused.value)
    make_plan(folder, now=NOW, engine=database)


@pytest.mark.postgres
def test_an_address_with_a_password_is_in_no_file_of_the_project(database: str, tmp_path: Path) -> None:
    secret = database.replace("postgres:@", "postgres:S3creto@")
    made = init(secret, tmp_path / "p", sheet="salud.egresos", engine="postgresql", now=NOW)
    assert not any(b"S3creto" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert made.project.config.engine == "postgresql"


@pytest.mark.slow
@pytest.mark.postgres
def test_a_whole_walk_where_the_rows_are_releases_the_bytes_of_the_file(
    own_database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ("keys", "file", "database"):
        (tmp_path / place).mkdir()
    people = make_keys(tmp_path / "keys")
    raw = write_discharges(tmp_path / "file" / "egresos.csv", 800, 11)
    copied = init(str(raw), tmp_path / "file" / "p", ("minsal",), now=NOW).project
    load(copied, own_database, "egresos")
    monkeypatch.setenv("CELOSIA_DATABASE", own_database)
    stays = init(own_database, tmp_path / "database" / "p", ("minsal",), now=NOW, engine="postgresql").project
    released = [
        make_release(run_to_approved_candidate(describe_project(project.folder, people), people), now=NOW).folder
        for project in (copied, stays)
    ]
    assert (tmp_path / "database" / "p" / "private" / "place.json").exists()
    for role, person in people.items():
        sign_release(released[1], None, person, role, now=NOW)
    assert verify_release(released[1]).holds
    files = ("data.csv", "dictionary.csv")
    first, second = ([(folder / name).read_bytes() for name in files] for folder in released)
    assert first == second


def load(project: Project, address: str, table: str) -> None:
    """A table of texts with the rows of a project, NULL for what is missing."""
    import psycopg

    columns = ", ".join(f'"{name}" text' for name in project.names)
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"CREATE TABLE {table} ({columns})")
        with connection.cursor().copy(f"COPY {table} FROM STDIN") as copy:
            for row in pq.read_table(project.paths.working_copy).to_pylist():
                copy.write_row([cell or None for cell in row.values()])


# --- what is refused --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ('engine = "postgresql://ana:clave@db/salud"', PasswordInAddress),
        ('engine = "oracle"', UnknownEngine),
        ('engine = "postgresql"', EngineAddressUnset),
        ('engine = "postgresql://ana@127.0.0.1:1/salud"', EngineUnreachable),
        ("engine = 3", WrongSetting),
        ('memory = "mucha"', WrongSetting),
        ('memory = "1MB"', WrongSetting),
    ],
)
def test_a_wrong_engine_or_memory_in_the_project_is_one_sentence(
    line: str, error: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CELOSIA_DATABASE", raising=False)
    folder = from_file(tmp_path)
    settings = folder / "celosia.toml"
    settings.write_text(settings.read_text("utf-8").replace("language =", f"{line}\nlanguage =", 1), "utf-8")
    with pytest.raises(error) as refused, open_table(folder):
        pass
    assert "clave@" not in str(refused.value)


def test_a_wrong_amount_of_memory_in_a_command_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueOutOfRange), open_table(str(csv_of(tmp_path / "e.csv")), memory="4 elefantes"):
        pass


def test_a_private_order_with_other_persons_is_refused(tmp_path: Path) -> None:
    folder = from_file(tmp_path)
    make_plan(folder, now=NOW)
    run_plan(folder, now=NOW)
    order = folder / "private" / "candidate" / "order.parquet"
    pq.write_table(pa.table({"person": [str(i) for i in range(180)]}), order)
    with pytest.raises(CandidateChanged):
        recheck_candidate(open_project(folder))
