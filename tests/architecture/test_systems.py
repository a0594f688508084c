"""The same bytes on Linux, macOS and Windows, and no call that one of them lacks or answers otherwise."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.architecture.source_files import Module, calls, modules, planted_module

_WRITING = set("wax")
# Modules that ask for the system before such a call; `system` is where most differences belong.
_POSIX_CALLS = {"fork", "kill", "getuid", "geteuid", "setrlimit", "flock", "mkfifo", "chown", "add_signal_handler"}
_MAY_CALL_POSIX = {"celosia.system", "celosia.system.memory", "celosia.kernels._cache"}


def _text_writes(module: Module) -> Iterator[str]:
    """Where text is written without saying how its lines end."""
    for name, call in calls(module.tree):
        given = {keyword.arg for keyword in call.keywords}
        if "newline" in given:
            continue
        if name == "write_text" or (name in ("open", "fdopen") and _opens_for_text(call)):
            yield f"{module.where}:{call.lineno}"


def _opens_for_text(call: ast.Call) -> bool:
    # `path.open(mode)`, but `open(path, mode)` and `os.fdopen(handle, mode)`.
    position = 0 if isinstance(call.func, ast.Attribute) and not _is_os(call) else 1
    places = [*call.args[position : position + 1], *(k.value for k in call.keywords if k.arg == "mode")]
    modes = [node.value for node in places if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return any("b" not in mode and set(mode) & _WRITING for mode in modes)


def test_written_text_says_how_its_lines_end() -> None:
    # Lines that end in \r\n on Windows have another digest, and no signature fits them.
    assert [where for module in modules() for where in _text_writes(module)] == []


def test_a_text_written_without_its_line_end_is_seen() -> None:
    code = 'p.write_text("x", "utf-8")\nopen(p, "w", encoding="utf-8")\np.open("a")\nos.fdopen(h, mode="wt")\n'
    assert len(list(_text_writes(planted_module("model", code)))) == 4
    code = 'p.write_text("x", newline="\\n")\nopen(p, "w", newline="")\np.open("wb")\np.open()\nopen("wax.txt")\n'
    code += 'archive.open(p, "w")\n'
    assert list(_text_writes(planted_module("model", code))) == []


def test_calls_that_windows_lacks_stand_where_the_system_is_asked_for() -> None:
    made = [
        f"{module.where}:{call.lineno} {name}"
        for module in modules()
        if module.name not in _MAY_CALL_POSIX
        for name, call in calls(module.tree)
        if name in _POSIX_CALLS and not (isinstance(call.func, ast.Attribute) and name == "kill" and not _is_os(call))
    ]
    assert made == []


def _is_os(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name) and call.func.value.id == "os"


def test_a_mode_is_set_where_windows_gets_its_access_list() -> None:
    # The cache of compiled code checks its folder by itself, and Spark's tasks do not run on Windows.
    may = ("celosia.system", "celosia.kernels._cache", "celosia.data.engines.spark_tasks")
    made = [
        f"{module.where}:{call.lineno}"
        for module in modules()
        if not module.name.startswith(may)
        for name, call in calls(module.tree)
        if name == "chmod"
    ]
    assert made == []


def test_files_are_moved_where_a_file_in_use_is_named() -> None:
    moved = [
        f"{module.where}:{call.lineno}"
        for module in modules()
        if module.name != "celosia.system" and not module.name.startswith("celosia.data.engines.spark")
        for name, call in calls(module.tree)
        if name in ("replace", "rename") and _is_os(call)
    ]
    assert moved == []


def test_processes_are_started_anew_on_every_system() -> None:
    # `fork` is Linux's habit; Windows has none, and on macOS libraries break after it.
    starters = {"Process", "Pool", "ProcessPoolExecutor", "Manager", "set_start_method"}
    libraries = ("multiprocessing", "concurrent", "ProcessPoolExecutor")
    made = [
        f"{module.where}:{call.lineno} {ast.unparse(call.func)}"
        for module in modules()
        for name, call in calls(module.tree)
        if name in starters and ast.unparse(call.func).split(".")[0] in libraries
    ]
    assert made == []
    contexts = [call for module in modules() for name, call in calls(module.tree) if name == "get_context"]
    assert contexts
    assert {ast.unparse(call.args[0]) for call in contexts} == {"'spawn'"}


def test_a_folder_is_removed_where_an_antivirus_is_waited_for() -> None:
    # Spark is not tested on Windows, and a sweep comes again.
    may = ("celosia.system", "celosia.storage", "celosia.data.engines.spark", "celosia.data.readers.folder")
    removed = [
        f"{module.where}:{call.lineno}"
        for module in modules()
        if not module.name.startswith(may)
        for name, call in calls(module.tree)
        if name == "rmtree"
    ]
    assert removed == []
