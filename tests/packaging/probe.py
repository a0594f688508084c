"""Run in an environment of its own: does an optional part of celosia do what it promises, with nothing else there?

    python probe.py PART FOLDER

Speaks to nothing but the installed celosia. Ends with an error where a promise is not kept.
"""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
import urllib.request
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa

from celosia.cli import main
from celosia.model.errors import MissingExtra
from celosia.model.sources import ColumnLabels

NAMES = ("SEXO", "EDAD")
ROWS = [("M", "31"), ("F", "32"), ("M", "31"), ("F", "")]
TABLE = pa.record_batch([list(column) for column in zip(*ROWS, strict=True)], names=list(NAMES))


def probe_core(folder: Path) -> None:
    """A file is measured; an SPSS file names the part it needs."""
    path = folder / "data.csv"
    path.write_text("\n".join([",".join(NAMES), *map(",".join, ROWS)]) + "\n", "utf-8")
    _measure(path)
    code, words = _run("measure", str(_touch(folder / "x.sav")), "--quasi", "SEXO")
    assert code == 2
    assert "celosia[office]" in words, words


def probe_office(folder: Path) -> None:
    """Excel, SPSS and Stata are written and read back; a Word document opens."""
    from celosia.data.sheets import read_rows, write_rows
    from celosia.data.writers.statistical import write_dta, write_sav

    labels = {"SEXO": ColumnLabels(label="Sexo registral")}
    assert write_sav([TABLE], NAMES, folder / "data.sav", labels) == len(ROWS)
    assert write_dta([TABLE], NAMES, folder / "data.dta", labels, numeric=("EDAD",)) == len(ROWS)
    write_rows(folder / "data.xlsx", [list(NAMES), *map(list, ROWS)])
    assert read_rows(folder / "data.xlsx")[1] == ["M", "31"]
    for suffix in ("sav", "dta", "xlsx"):
        _measure(folder / f"data.{suffix}")
    import docx

    docx.Document().save(str(folder / "page.docx"))


def probe_web(folder: Path) -> None:
    """The page answers on loopback."""
    words = [sys.executable, "-m", "celosia", "serve", str(folder), "--no-browser"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        try:
            address = next(line for line in server.stdout or () if line.startswith("http")).strip()
            with urllib.request.build_opener(urllib.request.HTTPCookieProcessor()).open(address, timeout=60) as page:
                assert page.status == 200
                assert "celosia" in page.read().decode().lower()
        finally:
            server.terminate()


def probe_postgres(folder: Path) -> None:
    """The server is asked: what is missing is an answer, not a part."""
    code, words = _run("measure", "postgresql://nobody@127.0.0.1:1/none?table=t", "--quasi", "SEXO")
    assert code == 2
    assert "celosia[" not in words, words
    import ibis.backends.postgres
    import psycopg

    assert ibis.backends.postgres.Backend.name == "postgres"
    assert psycopg.pq.__impl__ == "binary"


def probe_legal(folder: Path) -> None:
    """A PDF is judged: one that is no form of the release is refused as that."""
    from celosia.pipeline.release.errors import PdfNotTheForm
    from celosia.pipeline.release.legal import pdf_signatures

    pdf_signatures.refuse_without_library()
    try:
        pdf_signatures.check_signed_pdf(b"%PDF-1.7\n%%EOF\n", "a.pdf", {}, "r", None, datetime.now(UTC))
    except PdfNotTheForm:
        return
    raise AssertionError("a stranger's PDF was taken for a form")


def probe_bundle(folder: Path) -> None:
    """The tools are there and the carried lock is judged for another platform."""
    from celosia.bundle.downloads import require_tools
    from celosia.bundle.lock import entries_for, read_entries
    from celosia.bundle.platforms import platform_named
    from celosia.carried import carried_path

    require_tools()
    entries = read_entries(carried_path("bundle/locks/desktop.lock").read_text("utf-8"))
    chosen = entries_for(entries, platform_named("win_amd64").markers("3.11"))
    assert 20 < len(chosen) < len(entries)


def probe_desktop(folder: Path) -> None:
    """All that a desk uses."""
    for part in (probe_office, probe_web, probe_postgres, probe_legal):
        part(folder)


def _measure(path: Path) -> None:
    code, words = _run("measure", str(path), "--quasi", "SEXO", "--json")
    assert code == 0, words
    assert '"k": 2' in words, words


def _run(*words: str) -> tuple[int, str]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = main(["--lang", "en", *words])
    return code, out.getvalue()


def _touch(path: Path) -> Path:
    path.write_bytes(b"$FL2" + bytes(200))
    return path


if __name__ == "__main__":
    wanted, place = sys.argv[1], Path(sys.argv[2])
    try:
        globals()[f"probe_{wanted}"](place)
    except MissingExtra as missing:
        raise SystemExit(f"{wanted} needs another part: {missing}") from None
