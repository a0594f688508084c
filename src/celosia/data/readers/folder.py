"""A folder of CSV or Parquet files of one shape: one table, its rows in the order of the files' names.

Knows how the parts of a table must agree. Ignores how a part is read: each is read as a file of its own, with the
choices found in the first, here one after another or by whoever `each` spreads the work to. The working copy is then
a folder of parts too. What begins with a dot or an underscore (`_SUCCESS`) is nobody's data.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from celosia.data.errors import EmptyFolder, FolderMixed, FolderNested, FolderOfOthers, HeaderOnly, PartsDisagree
from celosia.data.readers.stream import Progress
from celosia.data.sniffing._format import CSV, PARQUET, format_of
from celosia.hierarchy.errors import EmptyFile
from celosia.model.sources import Ingested, Notice, ReadingChoices, Source
from celosia.storage import (
    PRIVATE_FOLDER,
    combine_digests,
    content_digest,
    move,
    temporary_folder_beside,
    translate_read_errors,
    translate_write_errors,
)
from celosia.system.paths import is_system_file

_READERS = {CSV: "delimited", PARQUET: "parquet"}
Read = Callable[[Path, Path, ReadingChoices], Ingested]


class Each(Protocol):
    """Whoever does a task for every item and gives the results in the same order."""

    def __call__(self, task: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]: ...


@dataclass(frozen=True, slots=True)
class Job:
    """One part to be read."""

    source: Path
    target: Path
    choices: ReadingChoices


@dataclass(frozen=True, slots=True)
class ReadPart:
    """Reads a part; one without rows gives only the digest of its bytes."""

    read: Read

    def __call__(self, job: Job) -> Ingested | str:
        """What was read of a part."""
        try:
            return self.read(job.source, job.target, job.choices)
        except (HeaderOnly, EmptyFile):
            return content_digest(job.source)


def parts_in(folder: Path) -> tuple[Path, ...]:
    """The files of a folder that hold data, by name; other folders among them are refused."""
    with translate_read_errors(folder):
        own = [path for path in folder.iterdir() if not (path.name.startswith("_") or is_system_file(path.name))]
    files = sorted(own, key=lambda path: path.name)  # paths of Windows would be sorted without regard to capitals
    for path in files:
        if path.is_dir():
            raise FolderNested(path=str(folder), folder=path.name)
    if not files:
        raise EmptyFolder(path=str(folder))
    return tuple(files)


def first_part(folder: Path) -> Path:
    """The part whose choices hold for all: the first that is not empty. Parts of two kinds are refused."""
    kinds = {path: format_of(path) for path in parts_in(folder) if path.stat().st_size}
    if not kinds:
        raise EmptyFolder(path=str(folder))
    first = next(iter(kinds))
    for path, kind in kinds.items():
        if kind not in _READERS:
            raise FolderOfOthers(path=str(folder), file=path.name)
        if kind != kinds[first]:
            raise FolderMixed(path=str(folder), first=first.name, other=path.name)
    return first


def read_folder(
    folder: Path,
    target: Path,
    choices: ReadingChoices,
    read: Read,
    progress: Progress | None = None,
    each: Each | None = None,
) -> Ingested:
    """Reads every part of a folder into a folder of parts at `target`, whole or not at all."""
    files = parts_in(folder)
    _refuse_other_columns(folder, files, choices)
    with temporary_folder_beside(target) as scratch:
        draft = scratch / target.name
        with translate_write_errors(target.parent):
            draft.mkdir(mode=PRIVATE_FOLDER)
        jobs = [Job(file.resolve(), draft / f"read-{i:05d}", choices) for i, file in enumerate(files)]
        results = each(ReadPart(read), jobs) if each is not None else _read_sequentially(ReadPart(read), jobs, progress)
        ingested = _combine_parts(folder, files, results)
        _move_parts(draft, [job.target for job, result in zip(jobs, results, strict=True) if _has_rows(result)], target)
    return ingested


def _read_sequentially(task: ReadPart, jobs: Sequence[Job], progress: Progress | None) -> list[Ingested | str]:
    results = []
    for done, job in enumerate(jobs, 1):
        results.append(task(job))
        if progress is not None:
            progress(done / len(jobs))
    return results


def _refuse_other_columns(folder: Path, files: Sequence[Path], choices: ReadingChoices) -> None:
    """Compares the columns of all parts before any is read whole."""
    named = [(file, names) for file in files if (names := _names(file, choices))]
    for file, names in named[1:]:
        if names != named[0][1]:
            raise PartsDisagree(path=str(folder), first=named[0][0].name, other=file.name)


def _names(file: Path, choices: ReadingChoices) -> tuple[str, ...]:
    """The columns of a part; none where it holds no row."""
    with contextlib.suppress(HeaderOnly, EmptyFile):
        head = import_module(f"celosia.data.readers.{_READERS[choices.format]}").head(file, choices, 1)
        return tuple(head.names)
    return ()


def _has_rows(result: Ingested | str) -> bool:
    return not isinstance(result, str)


def _combine_parts(folder: Path, files: Sequence[Path], results: Sequence[Ingested | str]) -> Ingested:
    """One account of all parts."""
    read = [(file, result) for file, result in zip(files, results, strict=True) if isinstance(result, Ingested)]
    if not read:
        raise HeaderOnly(path=str(folder))
    first = read[0][1]
    for file, result in read[1:]:
        if result.names != first.names:
            raise PartsDisagree(path=str(folder), first=read[0][0].name, other=file.name)
    digests = [result if isinstance(result, str) else result.source.digest for result in results]
    parts = [Notice.of("parts", count=len(files))]
    parts += [Notice.of("empty_parts", count=len(files) - len(read))] if len(read) < len(files) else []
    choices = replace(first.source.choices, notes=(*parts, *_merge_notices(result.notices for _, result in read)))
    rows = sum(result.source.rows for _, result in read)
    source = Source(folder.resolve().name, combine_digests(digests), rows, len(first.names), choices)
    return Ingested(source, first.names, first.labels)


def _merge_notices(notices: Iterator[tuple[Notice, ...]]) -> tuple[Notice, ...]:
    """What was noticed in the parts, each once; counts are added."""
    counts: dict[tuple[str, tuple[tuple[str, str | int], ...]], int | None] = {}
    for notice in (notice for part in notices for notice in part):
        fields = tuple(field for field in notice.fields if field[0] != "count")
        count = dict(notice.fields).get("count")
        before = counts.get((notice.key, fields)) or 0
        counts[notice.key, fields] = None if count is None else before + int(count)
    return tuple(
        Notice(key, fields if count is None else (*fields, ("count", count))) for (key, fields), count in counts.items()
    )


def _move_parts(draft: Path, read: Sequence[Path], target: Path) -> None:
    """Numbers the parts without a gap and moves their folder to its name in one step."""
    with translate_write_errors(target.parent):
        for position, path in enumerate(read):
            move(path, draft / f"part-{position:05d}.parquet")
        if target.is_dir():
            shutil.rmtree(target)
        move(draft, target)
