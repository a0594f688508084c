"""The portable folder, made by the real pip from a registry of two small wheels in a folder."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from celosia.bundle import make_bundle as making
from celosia.bundle.errors import PackagesNotDownloaded, PythonNotOffered
from celosia.bundle.lock import entries_for, read_entries
from celosia.bundle.make_bundle import make_bundle
from celosia.bundle.materials import bill_of_materials
from celosia.bundle.platforms import PLATFORMS, platform_named
from celosia.bundle.starters import write_starters
from celosia.carried import carried_path
from celosia.cli import main
from celosia.storage import AlreadyExists

pytest.importorskip("pip", reason="an environment without pip cannot download")
RUNNING = "{}.{}".format(*sys.version_info[:2])
MACHINE = "manylinux_x86_64"


def _wheel(folder: Path, name: str, tag: str) -> Path:
    path = folder / f"{name}-1.0-{tag}.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(f"{name}.py", f"NAME = '{name}'\n")
        wheel.writestr(f"{name}-1.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        wheel.writestr(f"{name}-1.0.dist-info/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n")
        wheel.writestr(f"{name}-1.0.dist-info/RECORD", "")
    return path


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Two wheels in a folder that pip takes as its only registry; the digest of each."""
    folder = tmp_path / "registry"
    folder.mkdir()
    wheels = [
        _wheel(folder, "everywhere", "py3-none-any"),
        _wheel(folder, "compiled", f"cp{RUNNING.replace('.', '')}-abi3-manylinux_2_17_x86_64"),
    ]
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return {path.name.split("-")[0]: hashlib.sha256(path.read_bytes()).hexdigest() for path in wheels}


def _use_lock(monkeypatch: pytest.MonkeyPatch, digests: dict[str, str]) -> None:
    text = (
        f"everywhere==1.0 \\\n    --hash=sha256:{digests['everywhere']}\n    # via celosia (pyproject.toml)\n"
        f"compiled==1.0 ; sys_platform == 'linux' \\\n    --hash=sha256:{digests['compiled']}\n    # via everywhere\n"
        f"for-windows==1.0 ; sys_platform == 'win32' \\\n    --hash=sha256:{'0' * 64}\n    # via everywhere\n"
    )
    monkeypatch.setattr(making, "_read_lock", lambda name: read_entries(text))


def test_the_folder_holds_the_packages_of_the_platform_and_this_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, registry: dict[str, str]
) -> None:
    _use_lock(monkeypatch, registry)
    report = make_bundle(tmp_path / "bundle", MACHINE)
    site = report.path / "site"
    assert (site / "everywhere.py").is_file()
    assert (site / "compiled.py").is_file()
    assert (site / "celosia" / "bundle" / "locks" / "desktop.lock").is_file()
    assert (site / "celosia" / "demo" / "sources" / "examples" / "minsal" / "walk.py").is_file()
    assert json.loads((report.path / "bundle.json").read_text())["packages"] == {"compiled": "1.0", "everywhere": "1.0"}
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".celosia")]


def test_its_digests_are_those_of_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, registry: dict[str, str]
) -> None:
    _use_lock(monkeypatch, registry)
    folder = make_bundle(tmp_path / "bundle", MACHINE).path
    lines = dict(line.split("  ")[::-1] for line in (folder / "SHA256SUMS").read_text("utf-8").splitlines())
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert set(lines) == names - {"SHA256SUMS"}
    assert all(hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest for name, digest in lines.items())


def test_a_package_with_another_digest_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, registry: dict[str, str]
) -> None:
    _use_lock(monkeypatch, registry | {"compiled": "1" * 64})
    with pytest.raises(PackagesNotDownloaded) as refusal:
        make_bundle(tmp_path / "bundle", MACHINE)
    assert refusal.value.values == {"platform": MACHINE, "package": "compiled==1.0"}
    assert [path.name for path in tmp_path.iterdir()] == ["registry"]


def test_a_platform_that_lacks_a_package_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, registry: dict[str, str]
) -> None:
    _use_lock(monkeypatch, registry)
    with pytest.raises(PackagesNotDownloaded, match=r"compiled==1\.0"):
        make_bundle(tmp_path / "bundle", "manylinux_aarch64")


def test_a_folder_that_exists_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "bundle").mkdir()
    with pytest.raises(AlreadyExists):
        make_bundle(tmp_path / "bundle", MACHINE)


def test_windows_takes_only_the_python_it_carries(tmp_path: Path) -> None:
    with pytest.raises(PythonNotOffered):
        make_bundle(tmp_path / "bundle", "win_amd64", "3.13")
    assert main(["bundle", "--platform", "win_amd64", "--python", "3.13", "--into", str(tmp_path / "bundle")]) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="the starter is a shell script")
def test_the_starter_runs_the_program_of_the_folder_and_nothing_of_the_current_one(tmp_path: Path) -> None:
    folder = tmp_path / "bundle with ñ"
    package = folder / "site" / "celosia"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text("import sys\nprint(__file__, sys.argv[1:])\n")
    write_starters(folder, platform_named(MACHINE), RUNNING)
    elsewhere = tmp_path / "elsewhere" / "celosia"
    elsewhere.mkdir(parents=True)
    (elsewhere / "__main__.py").write_text("print('the wrong one')\n")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    words = [str(folder / "celosia"), "demo", "--into", "a b"]
    done = subprocess.run(
        words, cwd=elsewhere.parent, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=True
    )
    assert done.stdout == f"{package / '__main__.py'} ['demo', '--into', 'a b']\n"


@pytest.mark.skipif(sys.platform == "win32", reason="the starter is a shell script")
def test_the_starter_says_which_python_is_missing(tmp_path: Path) -> None:
    write_starters(tmp_path, platform_named(MACHINE), "3.99")
    done = subprocess.run([str(tmp_path / "celosia")], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "falta Python 3.99" in done.stderr


@pytest.mark.parametrize("platform", PLATFORMS, ids=lambda platform: platform.name)
def test_the_real_lock_is_read_whole_and_its_markers_are_those_of_the_platform(platform) -> None:
    text = carried_path("bundle/locks/desktop.lock").read_text("utf-8")
    entries = read_entries(text)
    assert len(entries) == sum("==" in line and not line.startswith(" ") for line in text.splitlines())
    assert all(entry.digests for entry in entries)
    chosen = entries_for(entries, platform.markers("3.11"))
    names = [entry.name for entry in chosen]
    assert len(names) == len(set(names)), "a package is there once"
    assert ("uvloop" in names) == (platform.system != "win32")


def test_windows_starters_hold_plain_characters_and_its_line_ends(tmp_path: Path) -> None:
    write_starters(tmp_path, platform_named("win_amd64"), "3.11")
    for path in tmp_path.glob("*.cmd"):
        content = path.read_bytes()
        assert content.isascii()
        assert content.count(b"\n") == content.count(b"\r\n") > 3
    assert {path.name for path in tmp_path.iterdir()} == {"celosia.cmd", "abrir-celosia.cmd", "LEAME.txt", "README.txt"}


def test_the_bill_of_materials_names_every_package_and_what_needs_it() -> None:
    entries = read_entries(carried_path("bundle/locks/desktop.lock").read_text("utf-8"))
    document = bill_of_materials(entries)
    references = {component["bom-ref"] for component in document["components"]}
    assert len(references) == len(entries)
    needed = {line["ref"]: line["dependsOn"] for line in document["dependencies"]}
    asked_for = {name for names in needed.values() for name in names}
    assert asked_for == references, "every package is there because something needs it"
    assert document == bill_of_materials(entries)
