"""What a command loads before it answers. No clock: a busy machine must not decide, so the modules are counted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from celosia import messages
from celosia.cli import build_cli
from celosia.cli.commands import Commands, short_help

# What takes a tenth of a second or more to load, and is not needed to say what a verb is called.
HEAVY = (
    "numpy", "pyarrow", "pandas", "polars", "duckdb", "ibis", "sqlglot", "numba", "scipy", "rich", "cryptography",
    "jinja2", "typst", "docx", "nicegui", "psycopg", "pyspark", "phonenumbers",
)  # fmt: skip
# What counting combinations in a file has no use for.
NOT_FOR_MEASURES = (
    "scipy", "numba", "llvmlite", "polars", "matplotlib", "sklearn", "pyspark", "psycopg", "nicegui", "typst", "docx",
    "jinja2", "cryptography", "phonenumbers", "celosia.solver", "celosia.attacks", "celosia.dossier", "celosia.tables",
    "ibis.backends.duckdb", "ibis.backends.sql.compilers.trino",
)  # fmt: skip
# What reading a project's own files has no use for.
NOT_FOR_STATUS = ("numba", "scipy", "ibis", "pandas", "pyspark", "psycopg", "nicegui", "typst", "docx")
_WITHOUT_PANDAS = """
class NotInstalled:
    def find_spec(self, name, path=None, target=None):
        if name == "pandas":
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, NotInstalled())
"""
_RUN = """
import contextlib, io, json, sys
{before}
with contextlib.redirect_stdout(io.StringIO()) as out:
    {doing}
print(json.dumps([code, sorted(sys.modules), out.getvalue()]))
"""


def _after(doing: str, before: str = "") -> tuple[int, set[str], str]:
    """How a fresh process ends, the modules it then holds, and what it printed."""
    script = _RUN.format(before=before, doing=doing)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=os.environ)
    code, modules, printed = json.loads(done.stdout)
    return code, set(modules), printed


def _command(*words: str) -> str:
    return f"from celosia.cli import main; code = main({list(words)!r})"


@pytest.fixture
def small_file(tmp_path: Path) -> Path:
    path = tmp_path / "personas.csv"
    path.write_text("RUN;SEXO;EDAD\n" + "".join(f"{n};{'FM'[n % 2]};{20 + n % 3}\n" for n in range(60)), "utf-8")
    return path


def test_importing_the_library_loads_nothing_heavy() -> None:
    _, modules, _ = _after("import celosia; code = 0")
    assert not modules & set(HEAVY)
    assert "celosia.pipeline" not in modules


@pytest.mark.parametrize("words", [("--help",), (), ("--version",), ("measure", "--help"), ("stats", "--help")])
def test_a_help_loads_nothing_heavy(words: tuple[str, ...]) -> None:
    code, modules, printed = _after(_command(*words))
    assert (code, bool(printed)) == (0, True)
    assert not modules & {*HEAVY, "celosia.pipeline"}


def test_the_list_of_commands_makes_no_command() -> None:
    _, modules, printed = _after(_command("--help"))
    assert "destroy-key" in printed
    loaded = {name.removeprefix("celosia.cli.") for name in modules if name.startswith("celosia.cli.")}
    assert loaded == {"entry", "errors", "shell", "commands", "code_pages"}


def test_measuring_a_file_loads_only_what_counts(small_file: Path) -> None:
    code, modules, _ = _after(_command("measure", str(small_file), "--quasi", "SEXO,EDAD", "--person", "RUN"))
    assert code == 0
    assert {"duckdb", "ibis"} <= modules  # the list below would say nothing had it not been counted
    assert not modules & set(NOT_FOR_MEASURES)


def test_measuring_needs_no_pandas(small_file: Path) -> None:
    """Arrow loads pandas by itself wherever it is installed; nothing of ours asks for it."""
    asked = _command("measure", str(small_file), "--quasi", "SEXO,EDAD", "--json")
    code, _, printed = _after(asked, before=_WITHOUT_PANDAS)
    assert (code, json.loads(printed)["k"]) == (0, 10)


def test_the_package_runs_as_the_script_does() -> None:
    done = subprocess.run([sys.executable, "-m", "celosia", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("celosia ")


def test_a_command_in_a_process_of_its_own_lets_nobody_load_pandas(small_file: Path) -> None:
    own = f"import sys; sys.argv[1:] = {['measure', str(small_file), '--quasi', 'SEXO,EDAD', '--json']!r}; "
    code, modules, printed = _after(own + "from celosia.cli import main; code = main()")
    assert (code, json.loads(printed)["k"]) == (0, 10)
    assert "pandas" not in modules


@pytest.mark.parametrize(("call", "threshold"), [("main()", "50000"), ("main(['--version'])", "700")])
def test_a_command_in_a_process_of_its_own_looks_for_garbage_less_often(call: str, threshold: str) -> None:
    """Within somebody else's process the collector stays as it is."""
    script = (
        "import gc, sys; gc.set_threshold(700); sys.argv[1:] = ['--version']; "
        f"from celosia.cli import main; {call}; print(gc.get_threshold()[0])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == threshold


@pytest.mark.slow
def test_the_status_of_a_project_loads_no_kernel_and_compiles_no_question(small_file: Path, tmp_path: Path) -> None:
    folder = str(tmp_path / "proyecto")
    assert _after(_command("init", str(small_file), "--into", folder, "--protocol", "minsal"))[0] == 0
    code, modules, printed = _after(_command("status", folder))
    assert (code, "celosia request" in printed) == (1, True)
    assert not modules & set(NOT_FOR_STATUS)


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_each_verb_answers_to_its_name_and_to_its_line_in_the_list(language: str) -> None:
    verbs = Commands(language)
    messages.use(language)
    assert {name: verb.name for name, verb in verbs.items()} == {name: name for name in verbs}
    assert {name: short_help(name) for name in verbs} == {n: v.get_short_help_str(limit=90) for n, v in verbs.items()}


def test_a_command_tree_keeps_the_language_it_was_built_in() -> None:
    english, spanish = build_cli("en"), build_cli("es")
    assert english.commands["measure"].help != spanish.commands["measure"].help
    assert messages.language() == "es"
