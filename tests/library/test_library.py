"""What a data scientist writes works as it is written, in both languages and on every kind of frame."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import celosia as ce
from celosia import messages
from celosia.library.errors import UnknownLanguage
from celosia.pipeline.project.errors import UnknownArgument, WrongArgument
from tests.pipeline.frames.made_people import KINDS, ZIP_LEVELS, as_kind, made_people


@pytest.mark.parametrize("kind", KINDS)
def test_the_short_way_works_on_every_kind_of_frame(kind: str, tmp_path: Path) -> None:
    people = made_people(300).drop(columns=["pay", "visits", "seen"])
    frame, holdout = as_kind(people, kind), as_kind(made_people(80, seed=9), kind)
    ce.set_language("en")
    roles = ce.suggest(frame)
    assert "sex" in roles.quasi
    assert roles.to_frame().shape[0] == len(roles)
    assert ce.measure(frame, quasi="age", sensitive=["diagnosis"]).k == 1
    result = ce.anonymize(
        frame, quasi=["age", "sex", "zip"], sensitive=["diagnosis"], person="run",
        k=5, l=2, max_suppression=0.05, hierarchies={"age": ce.intervals(10), "zip": ZIP_LEVELS},
    )  # fmt: skip
    assert (type(result.frame), result.check.holds) == (type(frame), True)
    assert set(result.levels) == {"age", "sex", "zip"}
    assert result.suppressed <= 15
    assert isinstance(result.proved_optimal, bool)
    assert 0 <= result.loss <= 1
    assert result.evaluate(frame).risk is not None
    assert ce.attack(result.frame, original=frame, control=holdout, quasi="age", attempts=10).rows == 300
    assert ce.cross_table(frame, "diagnosis", "sex", k=5).k == 5
    result.save_project(tmp_path / "p")
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
    ],
)
def test_an_argument_that_is_wrong_is_named(call: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        call(made_people(40))


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
