"""`celosia document`: the forms and reports of a project, for the house or for anybody."""

from __future__ import annotations

from pathlib import Path

import click
from click.core import ParameterSource

from celosia import messages
from celosia.cli._shell import argument, json_option, names_option, option, verb
from celosia.cli._show import print_done, say

_AUDIENCES, _FORMATS = ("internal", "public"), ("html", "pdf", "docx")


def command() -> click.Command:
    """The verb."""
    return verb(
        "document",
        run,
        [
            argument("project", type=click.Path(path_type=Path)),
            option("document", "--audience", type=click.Choice(_AUDIENCES), default="internal"),
            names_option("document", "--format", "formats", choices=_FORMATS),
            option("document", "--into", type=click.Path(path_type=Path), default=None),
            json_option(),
        ],
    )


def run(project: Path, audience: str, formats: tuple[str, ...], into: Path | None, as_json: bool) -> None:
    """Write the documents and say where they are."""
    from celosia.pipeline import write_documents

    asked = _language_asked(click.get_current_context())
    written = write_documents(project, audience, formats or ("html", "pdf"), into, language=asked)
    if as_json:
        print_done("document", audience=audience, files=[str(path) for path in written])
        return
    for path in written:
        say("documents.written", path=path)


def _language_asked(context: click.Context) -> str | None:
    """The language of --lang, where somebody wrote it: a machine's own language says nothing about a document."""
    line = [context, *([context.parent] if context.parent else [])]
    given = any(one.get_parameter_source("lang") is ParameterSource.COMMANDLINE for one in line)
    return messages.language() if given else None
