"""CSV, TSV and similar files: any encoding, any size, streamed into the working copy.

Knows DuckDB's reader, told everything and guessing nothing. Ignores types: every cell is text.
The file is passed over once for its digest, bytes and line lengths (and its UTF-8 copy when it is in another
encoding), then read in parallel. The reader's own errors quote cells and are never shown.
"""

from __future__ import annotations

import codecs
import io
import threading
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import duckdb

from celosia.data.engines.memory import usable_memory
from celosia.data.errors import EngineFault, HeaderOnly, LineTooLong, RaggedLine, SourceChanged, UnclosedQuote
from celosia.data.readers import diagnosis as _diagnosis
from celosia.data.readers.arrow import add_notices
from celosia.data.readers.canonical import WHITESPACE
from celosia.data.readers.head import Head, head_of_texts
from celosia.data.readers.names import numbered_names, select_columns
from celosia.data.readers.stream import (
    LONGEST_LINE,
    Progress,
    TextFindings,
    UndecodableLine,
    blank_lines_between,
    encoding_after,
    mixes_line_ends,
    survey_text,
    transcode_text,
    write_plain_line_ends,
)
from celosia.data.readers.working import WorkingDraft, metadata_text
from celosia.data.sniffing import Record, records
from celosia.data.sniffing._dialect import first_records
from celosia.data.sniffing._encoding import PREFIX
from celosia.hierarchy.errors import BinaryFile, EmptyFile, UnreadableText, WrongEncoding
from celosia.model.sources import Notice, ReadingChoices
from celosia.storage import DiskFull, lasting_path, means_full_disk, translate_read_errors
from celosia.system.paths import LONG_PATH

_NO_CELL = "\x01celosia\x02null\x03"  # a text no cell has: with it the reader never makes a NULL
_BUFFER = 2 * LONGEST_LINE
_SURVEY_SHARE = 0.2  # of the whole work, for the progress bar
_POLL_SECONDS = 0.1
_MOST_MEMORY = 2_000_000_000
_ENGINE = "DuckDB"
_MOST_LINES = 1_000  # of one quoted text: beyond, its quote was never meant to open


def read(path: Path, choices: ReadingChoices, draft: Path, progress: Progress | None) -> WorkingDraft:
    """Reads a delimited text into a working copy."""
    before = _state(path)
    text, choices, findings = _utf8_copy(path, choices, draft.parent, _progress_part(progress, 0.0, _SURVEY_SHARE))
    raw = _first_fields(path, text, choices)
    selected = select_columns(raw if choices.header else numbered_names(len(raw)), choices)
    columns = len(raw), selected.positions, selected.names
    rest = _progress_part(progress, _SURVEY_SHARE, 1.0)
    rows, blanks, notices = _copy_rows(path, text, choices, columns, draft, rest)
    if _state(path) != before:
        raise SourceChanged(path=str(path))
    if rows == 0:
        raise HeaderOnly(path=str(path)) if choices.header else EmptyFile(path=str(path))
    # In a single column a blank line may be a missing cell.
    lost = blank_lines_between(text, choices.quote) if len(raw) == 1 else 0
    notices += tuple(Notice.of(key, count=n) for key, n in (("blank_cells", blanks), ("blank_rows", lost)) if n)
    return WorkingDraft(selected.names, rows, findings.digest, add_notices(selected.choices, *notices))


def head(path: Path, choices: ReadingChoices, rows: int) -> Head:
    """The first rows of a delimited text, from its first bytes alone."""
    first_records = first_rows(path, choices, rows)
    raw = first_records[0].fields if choices.header else numbered_names(len(first_records[0].fields))
    error = ragged_line(path, first_records, len(raw))
    if error:
        raise error
    return head_of_texts(raw, [record.fields for record in first_records[choices.header :]], choices, str(path))


def _state(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def _progress_part(progress: Progress | None, start: float, end: float) -> Progress | None:
    if progress is None:
        return None
    return lambda share: progress(start + (end - start) * share)


def _utf8_copy(
    path: Path, choices: ReadingChoices, scratch: Path, progress: Progress | None
) -> tuple[Path, ReadingChoices, TextFindings]:
    """The file itself when it is UTF-8, else a private copy in UTF-8; and the encoding it proved to be in."""
    guessed = "encoding" in choices.guessed
    try:
        if choices.encoding.startswith("utf-8"):
            findings = survey_text(path, choices.encoding, progress)
            return path, _notice_accents(choices, findings), findings
        return _transcode(path, choices, scratch, progress)
    except UndecodableLine as fault:
        right = encoding_after(path, fault, guessed, choices.encoding)
    notes = (*choices.notes, Notice.of("encoding_changed", encoding=right))
    try:
        return _transcode(path, replace(choices, encoding=right, notes=notes), scratch, progress)
    except UndecodableLine as fault:
        raise WrongEncoding(path=str(path), encoding=right, line=fault.line) from None


def _notice_accents(choices: ReadingChoices, findings: TextFindings) -> ReadingChoices:
    notice = Notice.of("destroyed_accents")
    if not findings.destroyed or notice in choices.notes:
        return choices
    return replace(choices, notes=(*choices.notes, notice))


def _transcode(
    path: Path, choices: ReadingChoices, scratch: Path, progress: Progress | None
) -> tuple[Path, ReadingChoices, TextFindings]:
    text = scratch / "utf8.csv"
    findings = transcode_text(path, choices.encoding, text, progress)
    if choices.encoding != "latin-1" or not findings.controls:
        return text, choices, findings
    if "encoding" not in choices.guessed:
        return text, replace(choices, notes=(*choices.notes, Notice.of("control_characters"))), findings
    notes = tuple(note for note in choices.notes if note.key != "encoding")
    notes += (Notice.of("encoding_changed", encoding="windows-1252"),)
    choices = replace(choices, encoding="windows-1252", notes=notes)
    return text, choices, transcode_text(path, choices.encoding, text, progress)


def _first_fields(path: Path, text: Path, choices: ReadingChoices) -> list[str]:
    """The fields of the first record; reads more only while a quoted header goes on."""
    size = PREFIX // 16
    with text.open("rb") as stream:
        data = stream.read(size)
        while True:
            whole = len(data) < size
            records = first_records(data.decode("utf-8-sig", "ignore"), choices.delimiter, choices.quote, True)
            if records and (len(records) > 1 or whole):
                break
            if whole:
                raise EmptyFile(path=str(path))
            if size > LONGEST_LINE:
                break
            size *= 4
            data += stream.read(size - len(data))
    if records[0].broken:
        raise _diagnosis.find_line_fault(path, text, choices, 1) or _diagnosis.unexplained_fault(path)
    return records[0].fields


Columns = tuple[int, tuple[int, ...], tuple[str, ...]]  # width of the file, positions kept, their names


def _copy_rows(
    path: Path, text: Path, choices: ReadingChoices, columns: Columns, draft: Path, progress: Progress | None
) -> tuple[int, int, tuple[Notice, ...]]:
    """Rows and blank cells copied; once more with plain line ends when a file mixes them."""
    try:
        return (*_copy_to_parquet(text, choices, columns, draft, progress), ())
    except duckdb.Error as fault:
        if means_full_disk(str(fault)):
            raise DiskFull(path=lasting_path(draft.parent.parent)) from None
        if isinstance(fault, duckdb.OutOfMemoryException):
            raise EngineFault(engine=_ENGINE, kind="OutOfMemory") from None
    error = _diagnosis.find_line_fault(path, text, choices, columns[0])
    if error is None and mixes_line_ends(text):
        plain = draft.parent / "plain.csv"
        write_plain_line_ends(text, plain)
        return (*_copy_or_refuse(path, plain, choices, columns, draft, progress), (Notice.of("line_ends"),))
    raise error or _diagnosis.unexplained_fault(path)


def copy_text(
    source: Path, text: Path, names: tuple[str, ...], draft: Path, progress: Progress | None
) -> tuple[int, int]:
    """Copies a private CSV of ours, without header, into a working copy; rows and blank cells."""
    columns = len(names), tuple(range(len(names))), names
    return _copy_or_refuse(source, text, ReadingChoices("csv", header=False), columns, draft, progress)


def _copy_or_refuse(
    path: Path, text: Path, choices: ReadingChoices, columns: Columns, draft: Path, progress: Progress | None
) -> tuple[int, int]:
    error: DiskFull | UnreadableText
    try:
        return _copy_to_parquet(text, choices, columns, draft, progress)
    except duckdb.Error as fault:
        full = means_full_disk(str(fault))
        error = DiskFull(path=lasting_path(draft.parent.parent)) if full else _diagnosis.unexplained_fault(path)
    raise error


def _copy_to_parquet(
    text: Path, choices: ReadingChoices, columns: Columns, draft: Path, progress: Progress | None
) -> tuple[int, int]:
    width, positions, names = columns
    with private_connection(draft.parent) as connection:
        connection.execute("CREATE TEMP SEQUENCE blanks MINVALUE 0 START 0")
        statement = (
            f"COPY (SELECT {', '.join(_cell(i, position) for i, position in enumerate(positions))} "
            f"FROM {_read_csv(text, choices, width)}) TO {_literal(str(draft))} "
            f"(FORMAT parquet, KV_METADATA {{celosia: {_literal(metadata_text(names, {}))}}})"
        )
        rows = _execute(connection, statement, progress)
        counted = connection.execute("SELECT nextval('blanks')").fetchone()
        return rows, int(counted[0]) if counted else 0


def private_connection(scratch: Path) -> duckdb.DuckDBPyConnection:
    """A connection that fetches nothing from the network and spills into the private folder."""
    return duckdb.connect(
        config={
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "enable_external_file_cache": "false",  # a file of the same name may be another one
            "temp_directory": str(scratch / "spill"),
            "memory_limit": f"{_memory_limit() // 1_000_000}MB",
            "preserve_insertion_order": "true",
        }
    )


def _memory_limit() -> int:
    """Bytes the reader may hold: left to itself it keeps rows that wait for their turn up to most of the memory."""
    return min(_MOST_MEMORY, usable_memory() // 2)


def _cell(inside: int, position: int) -> str:
    """A cell as it is, blanks only as missing; the sequence counts those while the rows stream by."""
    cell = f"s{position}"
    plain = f"{cell} >= '!' AND {cell} < chr(133)"  # no blank begins like this: most cells end here, cheaply
    blank = f"{cell} <> '' AND trim({cell}, {_literal(WHITESPACE)}) = ''"
    counted = "left(nextval('blanks')::VARCHAR, 0)"
    return f"CASE WHEN {plain} THEN {cell} WHEN {blank} THEN {counted} ELSE {cell} END AS c{inside}"


def _read_csv(text: Path, choices: ReadingChoices, width: int) -> str:
    columns = ", ".join(f"s{i}: 'VARCHAR'" for i in range(width))
    quote = _literal(choices.quote)
    options = (
        f"delim={_literal(choices.delimiter)}, quote={quote}, escape={quote}, comment='', "
        f"header={str(choices.header).lower()}, nullstr={_literal(_NO_CELL)}, "
        f"max_line_size={LONGEST_LINE}, buffer_size={_BUFFER}"
    )
    return (
        f"read_csv({_literal(_no_glob(text))}, auto_detect=false, columns={{{columns}}}, strict_mode=true, "
        f"null_padding=false, ignore_errors=false, compression='none', {options})"
    )


def _no_glob(path: Path) -> str:
    """The path with the characters of file patterns made plain."""
    text = str(path.resolve())
    prefix = LONG_PATH if text.startswith(LONG_PATH) else ""
    return prefix + "".join(f"[{c}]" if c in "*?[" else c for c in text.removeprefix(prefix))


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _execute(connection: duckdb.DuckDBPyConnection, statement: str, progress: Progress | None) -> int:
    """Runs a copy and gives its number of rows, reporting on the way if asked to."""
    if progress is None:
        return _rows(connection.execute(statement).fetchall())
    connection.execute("SET enable_progress_bar = true; SET enable_progress_bar_print = false")
    outcome: list[Sequence[Sequence[int]] | duckdb.Error] = []
    worker = threading.Thread(target=_work, args=(connection, statement, outcome), daemon=True)
    worker.start()
    reached = 0.0  # the engine says -1 before it begins and after it ends
    try:
        while worker.is_alive():
            worker.join(_POLL_SECONDS)
            reached = max(reached, min(connection.query_progress() / 100, 1.0))
            progress(reached)
    except BaseException:
        connection.interrupt()
        worker.join()
        raise
    if isinstance(outcome[0], duckdb.Error):
        raise outcome[0]
    progress(1.0)
    return _rows(outcome[0])


def _work(connection: duckdb.DuckDBPyConnection, statement: str, outcome: list[object]) -> None:
    try:
        outcome.append(connection.execute(statement).fetchall())
    except duckdb.Error as fault:
        outcome.append(fault)


def _rows(result: Sequence[Sequence[int]]) -> int:
    return int(result[0][0])


# --- the first rows ---------------------------------------------------------------------------------------


def first_rows(path: Path, choices: ReadingChoices, rows: int) -> list[Record]:
    """At least one record and up to `rows` after it; what the first bytes cut is left out."""
    size = PREFIX
    while True:
        data, whole = _start_of(path, size)
        text = _decode_start(path, data, choices, whole)
        first_records = list(islice(records(io.StringIO(text, newline=""), choices.delimiter, choices.quote), rows + 2))
        cut = not whole and len(first_records) < rows + 2
        if not cut or len(first_records) > 1 or size > LONGEST_LINE:
            break
        size *= 8  # a first record longer than what was read
    return _whole_records(path, first_records, rows, cut)


def _whole_records(path: Path, read_records: list[Record], rows: int, cut: bool) -> list[Record]:
    if not read_records:
        raise EmptyFile(path=str(path))
    last = read_records[-1]
    if cut and last.lines > _MOST_LINES:
        raise UnclosedQuote(path=str(path), line=last.line)
    if cut and len(read_records) == 1:
        raise LineTooLong(path=str(path), line=last.line, megabytes=LONGEST_LINE // 1_000_000)
    whole = read_records[:-1] if cut else read_records
    for record in whole:
        if record.broken:
            raise UnclosedQuote(path=str(path), line=record.line)
    return whole[: rows + 1]


def _start_of(path: Path, size: int) -> tuple[bytes, bool]:
    """The first bytes of a file, and whether they are all of it."""
    with translate_read_errors(path), path.open("rb") as stream:
        data = stream.read(size + 1)
    return data[:size], len(data) <= size


def _decode_start(path: Path, data: bytes, choices: ReadingChoices, whole: bool) -> str:
    try:
        text = codecs.getincrementaldecoder(choices.encoding)("strict").decode(data, whole)
    except UnicodeError as fault:  # UTF-16 without its mark has no place
        end = fault.start if isinstance(fault, UnicodeDecodeError) else 0
        line = data.count(b"\n", 0, end) + 1
        raise WrongEncoding(path=str(path), encoding=choices.encoding, line=line) from None
    if "\x00" in text:
        raise BinaryFile(path=str(path))
    return text


def ragged_line(path: Path, rows: Sequence[Record], expected: int) -> RaggedLine | None:
    """The error of the first record with more or fewer fields than the first one."""
    wrong = [record for record in rows if len(record.fields) != expected]
    if not wrong:
        return None
    first = wrong[0]
    return RaggedLine(path=str(path), line=first.line, expected=expected, found=len(first.fields), count=len(wrong))
