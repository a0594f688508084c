"""`celosia forms` and `celosia stamp`: forms signed with legal effect, and time stamps; all without a network."""

from __future__ import annotations

from pathlib import Path

import click

from celosia.cli.shell import PATH, argument, build_command, build_group, names_option, option, project_argument
from celosia.cli.show import print_done, print_json, say


def forms_command() -> click.Command:
    """The group `forms`."""
    from celosia.model.people import ROLES

    release = argument("release", type=PATH)
    export_params = [project_argument(), release, option("forms_export", "--into", type=PATH, required=True)]
    take_params = [
        project_argument(),
        release,
        argument("file", type=PATH),
        names_option("forms_take", "--role", "roles", choices=ROLES),
        option("forms_take", "--person", "names", multiple=True),
        option("forms_take", "--trust", type=PATH, multiple=True),
    ]
    export_command = build_command("export", export, export_params, "forms_export")
    return build_group("forms", [export_command, build_command("take", take, take_params, "forms_take")])


def stamp_command() -> click.Command:
    """The group `stamp`."""
    release = argument("release", type=PATH)
    request_params = [release, option("stamp_request", "--into", type=PATH, required=True)]
    attach_params = [
        release,
        argument("file", type=PATH),
        option("stamp_attach", "--project", type=PATH),
        option("stamp_attach", "--trust", type=PATH, multiple=True),
    ]
    request_command = build_command("request", request, request_params, "stamp_request")
    return build_group("stamp", [request_command, build_command("attach", attach, attach_params, "stamp_attach")])


def export(project: Path, release: Path, into: Path, as_json: bool) -> None:
    """Copy the forms to be signed."""
    from celosia.pipeline.release.legal.signed_forms import export_forms

    written = export_forms(project, release, into)
    if as_json:
        print_done("forms-export", release=release.name, files=[str(path) for path in written])
        return
    for path in written:
        say("legal.exported", path=path)
    say("legal.export_hint", project=project, release=release.name)


def take(
    project: Path,
    release: Path,
    file: Path,
    roles: tuple[str, ...],
    names: tuple[str, ...],
    trust: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Take a signed PDF in."""
    from celosia.pipeline.release.legal.records import signer_sentence
    from celosia.pipeline.release.legal.signed_forms import take_signed_form

    record = take_signed_form(project, release, file, roles, names=names, trust=trust)
    if as_json:
        print_json(record.as_dict())
        return
    for signer in record.signers:
        say("legal.taken", words=signer_sentence(signer, record.form))
        if signer.name_declared:
            say("legal.declared_name", name=signer.name)


def request(release: Path, into: Path, as_json: bool) -> None:
    """Write the query for a time stamp."""
    from celosia.pipeline.release.legal.time_stamps import write_query

    path = write_query(release, into)
    if as_json:
        print_done("stamp-request", release=release.name, path=str(path))
    else:
        say("legal.query", path=path, release=release)


def attach(release: Path, file: Path, project: Path | None, trust: tuple[Path, ...], as_json: bool) -> None:
    """Add an authority's answer to a release."""
    from celosia.pipeline.release.legal.attach_stamp import attach_stamp

    stamp = attach_stamp(release, file, project=project, trust=trust)
    if as_json:
        print_done("stamp-attach", release=release.name, **stamp.as_dict())
    else:
        say("legal.attached", authority=stamp.authority, moment=stamp.moment, anchor=stamp.anchor)
