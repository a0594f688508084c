"""From what a text asks to what of a release answers it: lines, pointers, and how each line was read.

Knows the shape of the table, `celosia/crosswalk/1`. Ignores where it is kept and what a release holds. The sentences of
a line are `crosswalk.<text>.<line>.asks` and `.how`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from celosia.model.plain import plain_fields
from celosia.model.rules import RuleResult
from celosia.model.verdict import State

CROSSWALK_FORMAT = "celosia/crosswalk/1"
_PASSES = (State.HOLDS, State.ATTESTED)


class Reading(StrEnum):
    """How well a line was read: nothing is said of what nobody read."""

    ARTICLE = "article"  # the text of the article or letter itself
    EXTRACT = "extract"  # literal extracts, with gaps, in a copy
    CONTENTS = "contents"  # the table of contents alone
    SUMMARY = "summary"  # an official abstract or a secondary source
    UNREAD = "unread"


class Coverage(StrEnum):
    """How far a release answers."""

    FULL = "full"
    PART = "part"
    NONE = "none"
    UNMET = "unmet"  # of one release alone: a figure that it shows does not hold


class PointerKind(StrEnum):
    """What a pointer points to."""

    MEASURE = "measure"  # of a rule of a protocol
    MANIFEST = "manifest"  # a field of manifest.json
    FINDING = "finding"  # of `verify`
    ATTACK = "attack"  # of `intruder`
    DOCUMENT = "document"
    ITEM = "item"  # of the request or the publication
    COMMAND = "command"


@dataclass(frozen=True, slots=True)
class Pointer:
    """One figure, document, signature or act, by its id."""

    kind: PointerKind
    id: str

    def as_dict(self) -> dict[str, Any]:
        """The pointer as data."""
        return plain_fields(self, "kind id")


@dataclass(frozen=True, slots=True)
class CrosswalkLine:
    """One obligation."""

    id: str
    place: str  # article or clause
    reading: Reading
    coverage: Coverage
    pointers: tuple[Pointer, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The line as data, without its sentences."""
        return plain_fields(self, "id place reading coverage pointers")


@dataclass(frozen=True, slots=True)
class CrosswalkText:
    """A law, standard or guidance with its obligations."""

    id: str
    source: str
    lines: tuple[CrosswalkLine, ...]

    def as_dict(self) -> dict[str, Any]:
        """The text as data."""
        return plain_fields(self, "id source lines")


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one release shows for a pointer; nothing where the folder alone does not hold it."""

    pointer: Pointer
    results: tuple[RuleResult, ...] = ()  # of the rules that the measure judges
    state: State | None = None  # of the finding
    count: int | None = None  # entries of a field of the manifest, or files of a document

    @property
    def shows(self) -> bool:
        """Whether the folder holds anything of it."""
        return bool(self.results) or self.state is not None or bool(self.count)

    @property
    def fails(self) -> bool:
        """Whether a compulsory rule or a finding fails, or none of the rules of a measure holds."""
        met = [result.state in _PASSES for result in self.results]
        stopped = any(not result.passes for result in self.results) or (bool(met) and not any(met))
        return stopped or (self.state is not None and self.state not in _PASSES)

    def as_dict(self) -> dict[str, Any]:
        """The evidence as data."""
        return {**self.pointer.as_dict(), **plain_fields(self, "results state count")}


@dataclass(frozen=True, slots=True)
class ReleaseCrosswalk:
    """The crosswalk of one release: what its folder shows for each pointer, verified again."""

    release: str
    manifest: str  # digest
    holds: bool  # whether nothing contradicts the release
    evidence: tuple[Evidence, ...]

    def coverage(self, line: CrosswalkLine) -> Coverage:
        """How far this release answers a line: never more than the line itself; a failing figure undoes it."""
        shown = [self.of(pointer) for pointer in line.pointers]
        judged = [evidence for evidence in shown if evidence.results]
        if any(evidence.fails for evidence in shown):
            return Coverage.UNMET
        if not any(evidence.shows for evidence in shown):
            return Coverage.NONE
        measures = any(pointer.kind is PointerKind.MEASURE for pointer in line.pointers)
        return Coverage.PART if measures and not judged else line.coverage

    def of(self, pointer: Pointer) -> Evidence:
        """What the release shows for a pointer."""
        return next((shown for shown in self.evidence if shown.pointer == pointer), Evidence(pointer))

    def as_dict(self) -> dict[str, Any]:
        """The release as data."""
        return plain_fields(self, "release manifest holds evidence")
