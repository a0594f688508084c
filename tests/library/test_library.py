"""What a data scientist writes works as it is written, in both languages and on every kind of frame."""

from __future__ import annotations

import inspect
import json
import keyword
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import celosia as ce
from celosia import messages
from celosia.errors import WrongUse
from celosia.library.errors import UnknownLanguage
from celosia.model.errors import UnknownVariable
from celosia.pipeline.frames.errors import ColumnsWithoutRole
from celosia.pipeline.planning.errors import PurposeMissing
from celosia.pipeline.project.errors import UnknownArgument, WrongArgument
from tests.pipeline.frames.made_people import KINDS, ZIP_LEVELS, as_kind, made_people

LISTING = """
import celosia as ce

ce.set_language("en")
roles = ce.suggest(df)
ce.measure(df, quasi="age", sensitive=["diagnosis"])
result = ce.anonymize(
    df, quasi=["age", "sex", "zip"], sensitive=["diagnosis"], person="run",
    k=5, l=2, max_suppression=0.05, hierarchies={"age": ce.intervals(10), "zip": zip_table},
)
result.frame, result.levels, result.suppressed, result.proved_optimal, result.loss
picture = result.evaluate(df).plot()
attacks = ce.attack(result.frame, original=df, control=holdout).to_frame()
table = ce.cross_table(df, "education", "race", k=5).to_frame()
result.save_project("p/")
"""


@pytest.mark.parametrize("kind", KINDS)
def test_the_short_way_works_on_every_kind_of_frame(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty lines at most, and every answer is of the kind that was handed in."""
    assert len(LISTING.strip().splitlines()) <= 20
    monkeypatch.chdir(tmp_path)
    people, others = made_people(300), made_people(80, seed=9)
    for frame in (people, others):
        frame["education"], frame["race"] = frame["visits"].astype(str), frame["seen"].dt.month.astype(str)
    frame, holdout = (as_kind(f.drop(columns=["pay", "visits", "seen"]), kind) for f in (people, others))
    names: dict[str, Any] = {"df": frame, "holdout": holdout, "zip_table": as_kind(ZIP_LEVELS, kind)}
    with pytest.warns(ColumnsWithoutRole, match="race"):
        exec(LISTING, names)
    result, answer_kind = names["result"], type(frame.collect() if kind == "lazy" else frame)
    assert (type(result.frame), result.check.holds) == (type(frame), True)
    assert {type(names[name]) for name in ("attacks", "table")} == {answer_kind}
    assert (type(names["roles"].to_frame()), type(result.to_frame())) == (answer_kind, answer_kind)
    assert "sex" in names["roles"].quasi
    assert set(result.levels) == {"age", "sex", "zip"}
    assert result.suppressed <= 15
    assert isinstance(result.proved_optimal, bool)
    assert 0 <= result.loss <= 1
    assert names["picture"].svg().startswith("<svg")
    for shown in (names["roles"], result):
        assert "<table" in shown._repr_html_()
    assert ce.plan(tmp_path / "p").plan.digest == result.plan.digest


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_every_block_of_the_page_runs(
    language: str, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (repository / "docs" / language / "python.md").read_text("utf-8")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    for block in blocks:
        exec(block, names)
    assert len(blocks) == 5
    assert (tmp_path / "p" / "plan.json").is_file()
    assert messages.language() == language


def test_the_library_speaks_what_the_environment_prefers_until_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "_current", None)
    assert messages.language() == "es"
    monkeypatch.setenv("CELOSIA_LANG", "en")
    assert messages.language() == "en"
    ce.set_language("es")
    seen: list[str] = []
    thread = threading.Thread(target=lambda: seen.append(messages.language()))
    thread.start()
    thread.join()
    assert seen == ["es"]
    with pytest.raises(UnknownLanguage):
        ce.set_language("fr")


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda f: ce.measure(f, quasi="sex", sensitve="age"), UnknownArgument),
        (lambda f: ce.measure(f), WrongArgument),
        (lambda f: ce.measure(f, quasi=3), WrongArgument),
        (lambda f: ce.attack(f, quasi="sex", seed="x"), WrongArgument),
        (lambda f: ce.attack(f, quasy="sex"), UnknownArgument),
        (lambda f: ce.cross_table(f, "sex", columnas="age"), UnknownArgument),
        (lambda f: ce.evaluate(f, f, quasis="sex"), UnknownArgument),
        (lambda f: ce.suggest(f, speling=1), UnknownArgument),
        (lambda f: ce.anonymize(f, quasi="sex", k=2, hierarchies=[1]), WrongArgument),
        (lambda f: ce.anonymize(f, quasi="sex", k=2, levels={"sex": "1"}), WrongArgument),
        (lambda f: ce.anonymize(f, quasi="sex", k=2, criteria=["k"]), WrongArgument),
        (lambda f: ce.anonymize(f, quasi="sex", k=2, purpose=3), WrongArgument),
        (lambda f: ce.anonymize(f, quasi="sex", sensitive="diagnosis", t="0.2"), WrongArgument),
        (lambda f: ce.attack(f, quasi="sex", earlier=3), WrongUse),
        (lambda f: ce.cross_table(f, "sex", k="5"), WrongArgument),
        (lambda f: ce.cross_table(f, ["sex"]), WrongArgument),
        (lambda f: ce.cross_table(f, "sex", margins="yes"), WrongArgument),
        (lambda f: ce.people_risk(f, 3), WrongArgument),
        (lambda f: ce.rare_values(f, "sex"), WrongArgument),
        (lambda f: ce.scenario_risk(f, quasy="sex"), UnknownArgument),
        (lambda f: ce.special_uniques(f, depth=2), UnknownArgument),
        (lambda f: ce.geography_rule(f), WrongArgument),
        (lambda f: ce.profile(), WrongArgument),
        (lambda f: ce.init(f, protocol="mel"), UnknownArgument),
        (lambda f: ce.intervals("10"), WrongArgument),
        (lambda f: ce.intervals(witdh=10), UnknownArgument),
        (lambda f: ce.mask(1), WrongArgument),
        (lambda f: ce.measure(f, "sex", "diagnosis", "run", "own", "csv"), WrongArgument),
    ],
)
@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_an_argument_that_is_wrong_is_named(call: Any, error: type[Exception], language: str) -> None:
    messages.use(language)
    with pytest.raises(error) as caught:
        call(made_people(40))
    assert "‹" not in str(caught.value)


def test_no_parameter_is_a_keyword_of_python() -> None:
    functions = [function for name in ce.__all__ if inspect.isfunction(function := getattr(ce, name))]
    assert len(functions) > 20
    assert not [f.__name__ for f in functions for name in inspect.signature(f).parameters if keyword.iskeyword(name)]
    ages = made_people(60)[["age", "sex"]]
    coded = ce.treatments.top_bottom(ages, columns="age", top=80, as_="label").frame
    assert set(coded["age"].astype(str)) - set(ages["age"].astype(str))


def _project_of(people: Any, folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    people.to_csv(folder / "people.csv", index=False)
    ce.init(folder / "people.csv", folder / "p", person="run")
    return folder / "p"


STATED: dict[str, Any] = {"quasi": ["age", "sex", "zip"], "sensitive": "diagnosis", "k": 5, "l": 2}
STATED |= {"max_suppression": 0.05, "hierarchies": {"age": ce.intervals(10), "zip": ZIP_LEVELS}, "levels": {"sex": 0}}


def test_plan_takes_roles_and_hierarchies_that_a_call_states(tmp_path: Path) -> None:
    people = made_people(600).drop(columns=["pay", "visits", "seen"])
    folder = _project_of(people, tmp_path)
    before = [(folder / name).read_bytes() for name in ("dictionary.csv", "celosia.toml")]
    for wrong, error in (({}, PurposeMissing), ({"purpose": "x", "quasi": "edad"}, UnknownVariable)):
        with pytest.raises(error):
            ce.plan(folder, **{**STATED, **wrong})
    assert [(folder / name).read_bytes() for name in ("dictionary.csv", "celosia.toml")] == before
    result = ce.plan(folder, **STATED, identifiers="run", purpose="study")
    frame = ce.anonymize(people.astype(str), **STATED, person="run")
    assert (result.plan.levels, result.plan.loss) == (frame.levels, frame.loss)
    assert (folder / "hierarchies" / "zip.csv").is_file()
    assert ce.plan(folder, k=5, l=2, max_suppression=0.05).plan.levels == result.plan.levels
    assert ce.run(folder).check.k_persons == frame.k


def test_the_command_line_of_plan_takes_what_python_takes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from celosia.cli import main

    people = made_people(600).drop(columns=["pay", "visits", "seen"])
    folder = _project_of(people, tmp_path)
    result = ce.plan(_project_of(people, tmp_path / "other"), **STATED, identifiers="run", purpose="study")
    ZIP_LEVELS.to_csv(tmp_path / "zip.csv", sep=";", index=False, header=False)
    words = ["plan", str(folder), "--quasi", "age,sex,zip", "--sensitive", "diagnosis", "--identifiers", "run"]
    words += ["--purpose", "study", "--k", "5", "--l", "2", "--max-suppression", "0.05", "--level", "sex=0", "--json"]
    words += ["--hierarchy", 'age={builder = "intervals", width = 10}', "--hierarchy", f"zip={tmp_path / 'zip.csv'}"]
    assert main(words) == 0
    plan = json.loads(capsys.readouterr().out)
    assert (plan["levels"], plan["loss"]) == (dict(result.plan.levels), result.plan.loss)


@pytest.mark.parametrize(
    "words", [("--level", "age=x"), ("--hierarchy", "age"), ("--weight", "=2"), ("--quasi", "edad")]
)
def test_an_option_of_plan_that_is_not_understood_is_named(
    words: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from celosia.cli import main

    folder = _project_of(made_people(60), tmp_path)
    assert main(["plan", str(folder), *words, "--lang", "en"]) == 2
    assert words[1] in capsys.readouterr().err


def test_one_name_is_as_good_as_a_list_of_one() -> None:
    people = made_people(100)
    assert ce.measure(people, "sex", "diagnosis") == ce.measure(people, ["sex"], ["diagnosis"])


def test_a_seed_of_a_treatment_may_be_a_number() -> None:
    ages = made_people(40)[["age", "sex"]]
    first, again = (ce.treatments.noise(ages, columns=["age"], seed=42, level=0.1).frame for _ in range(2))
    assert first.equals(again)


@pytest.mark.parametrize("old", ["make_plan", "run_plan", "apply_steps", "intrude"])
def test_a_former_name_says_the_new_one(old: str) -> None:
    with pytest.warns(DeprecationWarning, match=old), pytest.raises(WrongArgument):
        getattr(ce, old)()


TYPED = """
import pandas as pd

import celosia as ce

people = pd.DataFrame({"age": [1, 2], "sex": ["F", "M"]})
result = ce.anonymize(people, quasi="age", keep=["sex"], k=1, hierarchies={"age": ce.intervals(10)})
frame: pd.DataFrame = result.frame
levels: dict[str, int] = dict(result.levels)
share: float = result.suppressed_share
names: list[str] = ce.suggest(people).quasi
k: int | None = ce.measure(people, quasi=["age"]).k
ce.cross_table(people, "age", "sex", k=5, margins=True)
ce.attack(result.frame, original=people, quasi="age", seed=42)
"""


@pytest.mark.slow
def test_what_a_user_writes_passes_a_strict_type_checker(tmp_path: Path, repository: Path) -> None:
    (tmp_path / "typed.py").write_text(TYPED, "utf-8")
    (tmp_path / "wrong.py").write_text(TYPED.replace('quasi="age", keep', 'quasy="age", keep'), "utf-8")
    options = ["--strict", "--ignore-missing-imports", "--follow-imports=silent", "--no-error-summary"]
    command = [sys.executable, "-m", "mypy", *options, "--config-file", ""]
    for name, passes in (("typed.py", True), ("wrong.py", False)):
        done = subprocess.run([*command, name], cwd=tmp_path, capture_output=True, text=True, timeout=500)
        assert (done.returncode == 0) == passes, done.stdout
