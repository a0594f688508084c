"""`celosia document` and `celosia deliver`: the documents of a project, and the four data files of MEL."""

from __future__ import annotations

from pathlib import Path

import click
from click.core import ParameterSource

from celosia import messages
from celosia.cli.shell import PATH, build_command, names_option, option, project_argument
from celosia.cli.show import labels, print_done, print_json, print_table, say
from celosia.model.errors import MissingExtra


def command() -> click.Command:
    """The command."""
    params = [
        project_argument(),
        option("document", "--audience", type=click.Choice(("internal", "public")), default="internal"),
        names_option("document", "--format", "formats", choices=("html", "pdf", "docx")),
        option("document", "--into", type=PATH, default=None),
    ]
    return build_command("document", run, params)


def run(project: Path, audience: str, formats: tuple[str, ...], into: Path | None, as_json: bool) -> None:
    """Write the documents and say where they are."""
    from celosia.drawing.typesetter import can_write_pdf
    from celosia.pipeline.release.documents import write_documents

    language = _requested_language(click.get_current_context())
    written = write_documents(project, audience, formats or None, into, language=language)
    if as_json:
        print_done("document", audience=audience, files=[str(path) for path in written])
        return
    for path in written:
        say("documents.written", path=path)
    if not formats and not can_write_pdf():
        sentence = MissingExtra(feature=messages.text("documents.pdf_feature"), extra="pdf")
        click.echo(str(sentence), err=True)


def _requested_language(context: click.Context) -> str | None:
    """The language of --lang, where somebody wrote it: a machine's own language says nothing about a document."""
    sources = [each.get_parameter_source("lang") for each in (context, context.parent) if each]
    return messages.language() if ParameterSource.COMMANDLINE in sources else None


def deliver_command() -> click.Command:
    """The command `deliver`."""
    params = [project_argument(), option("deliver", "--release", default=None)]
    return build_command("deliver", run_deliver, params)


def run_deliver(project: Path, release: str | None, as_json: bool) -> None:
    """Assemble the delivery and list its files."""
    from celosia.pipeline.release.mel_delivery import deliver

    result = deliver(project, release)
    if as_json:
        print_json(result.as_dict())
        return
    rows = []
    for file in result.delivery.files:
        access = messages.text("cli.deliver.publish" if file.publish else "cli.deliver.restricted")
        rows.append([file.path, messages.integer(file.rows), messages.integer(file.columns), access, file.sha256])
    title = messages.text("cli.deliver.title", path=result.folder, release=result.delivery.release)
    header = labels("cli.deliver.column", "file", "rows", "columns", "publish", "digest")
    print_table(title, header, rows, right=(1, 2))
    say("cli.deliver.done")
