"""`celosia protocol crosswalk`: from what laws and standards ask to what of a release answers it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from celosia import messages
from celosia.cli.shell import PATH, argument, build_command, option
from celosia.cli.show import labels, print_json, print_table, say
from celosia.model.reports.crosswalk import CROSSWALK_FORMAT, Coverage, Reading

if TYPE_CHECKING:
    from celosia.model.reports.crosswalk import CrosswalkLine, CrosswalkText, Evidence, Pointer, ReleaseCrosswalk

TEXTS = ("ley21719", "iso27559", "nist800188", "ico", "wp216")


def command() -> click.Command:
    """The command `crosswalk`, within `protocol`."""
    release = argument("release", type=PATH, required=False)
    release.metavar = f"[{release.metavar}]"
    text = option("protocol_crosswalk", "--text", type=click.Choice(TEXTS), default=None)
    return build_command("crosswalk", crosswalk, [release, text], "protocol_crosswalk")


def crosswalk(release: Path | None, text: str | None, as_json: bool) -> None:
    """The table, empty or filled in with the figures of one release."""
    from celosia.protocols.crosswalk import load_crosswalk

    texts = [asked for asked in load_crosswalk() if text in (None, asked.id)]
    filled = _release(release) if release is not None else None
    if as_json:
        print_json(_document(texts, filled))
        return
    for asked in texts:
        _show(asked, filled)
    say("crosswalk.note" if filled is None else "crosswalk.note_release")


def _release(release: Path) -> ReleaseCrosswalk:
    from celosia.pipeline.release.crosswalk import release_crosswalk

    return release_crosswalk(release)


def _document(texts: Sequence[CrosswalkText], filled: ReleaseCrosswalk | None) -> dict[str, Any]:
    """The table as data, with its sentences in both languages."""
    document: dict[str, Any] = {"format": CROSSWALK_FORMAT, "texts": [text.as_dict() for text in texts]}
    for language in messages.LANGUAGES:
        with messages.speaking(language):
            for data in document["texts"]:
                for line in data["lines"]:
                    for part in ("asks", "how"):
                        line[f"{part}_{language}"] = messages.text(f"crosswalk.{data['id']}.{line['id']}.{part}")
    if filled is None:
        return document
    coverage = {text.id: {line.id: str(filled.coverage(line)) for line in text.lines} for text in texts}
    return document | {"release": {**filled.as_dict(), "coverage": coverage}}


def _show(text: CrosswalkText, filled: ReleaseCrosswalk | None) -> None:
    title = messages.text("crosswalk.title", source=text.source)
    if filled is not None:
        title = messages.text("crosswalk.title_release", release=filled.release, source=text.source)
    header = labels("crosswalk.header", "place", "asks", "coverage", "answers", "reading")
    print_table(title, header, [_row(text, line, filled) for line in text.lines])
    answers = [_coverage(line, filled) for line in text.lines]
    unread = sum(line.reading is Reading.UNREAD for line in text.lines)
    counts = {str(coverage): answers.count(coverage) for coverage in Coverage}
    if filled is None:
        del counts["unmet"]
    say(
        "crosswalk.counts" if filled is None else "crosswalk.counts_release",
        lines=len(answers),
        unread=unread,
        **counts,
    )


def _coverage(line: CrosswalkLine, filled: ReleaseCrosswalk | None) -> Coverage:
    return line.coverage if filled is None else filled.coverage(line)


def _row(text: CrosswalkText, line: CrosswalkLine, filled: ReleaseCrosswalk | None) -> list[str]:
    key = f"crosswalk.{text.id}.{line.id}"
    how = messages.text(f"{key}.how")
    return [
        line.place,
        messages.text(f"{key}.asks"),
        messages.text(f"crosswalk.coverage.{_coverage(line, filled)}"),
        "\n".join([how, *(f"· {_pointer_words(pointer, filled)}" for pointer in line.pointers)]),
        messages.text(f"crosswalk.reading.{line.reading}"),
    ]


def _pointer_words(pointer: Pointer, filled: ReleaseCrosswalk | None) -> str:
    from celosia.protocols.crosswalk import pointed_name, pointer_text

    if filled is None:
        return pointer_text(pointer)
    if pointer.kind == "command":
        return pointed_name(pointer)
    return f"{pointed_name(pointer)}: {_evidence_text(filled.of(pointer))}"


def _evidence_text(evidence: Evidence) -> str:
    """What the release shows, in words."""
    from celosia.protocols.words import measured_text

    if evidence.pointer.kind == "measure":
        lines = [
            f"{result.protocol}, {measured_text(result)} ({messages.text(f'plan.state_words.{result.state}')})"
            for result in evidence.results
        ]
        return "; ".join(lines) or messages.text("crosswalk.rules_of_none")
    if evidence.state is not None:
        return messages.text(f"plan.state_words.{evidence.state}")
    if evidence.count is None:
        return messages.text("crosswalk.absent" if evidence.pointer.kind == "finding" else "crosswalk.outside")
    return (
        messages.text("crosswalk.present", count=evidence.count)
        if evidence.count
        else messages.text("crosswalk.absent")
    )
