"""`celosia release`, `sign`, `publish`, `check`, `verify`, `recheck`: from the candidate to the public and back."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from celosia import messages
from celosia.cli.planning.plan import show_check
from celosia.cli.project.protocol import show_rules
from celosia.cli.project.request import show_closing
from celosia.cli.reading import counting_options
from celosia.cli.shell import PATH, argument, build_command, names_option, option, project_argument
from celosia.cli.show import (
    announce_first_time,
    labels,
    page_width,
    path_from_here,
    print_json,
    print_next_act,
    print_report,
    print_table,
    role_names,
    say,
    watching,
)

if TYPE_CHECKING:
    from celosia.model.reports.verification import RecheckReport, SourceDifference, VerifyReport
    from celosia.pipeline.release.make_release import ReleaseResult

_EXIT_CODES = {"known": 0, "unknown": 4, "not_intact": 1}


def release_command() -> click.Command:
    """The command `release`."""
    formats = names_option("release", "--formats", choices=("csv", "parquet", "sav", "dta", "xlsx"))
    return build_command(
        "release", release, [project_argument(), formats, option("release", "--destroy-seed", is_flag=True)]
    )


def sign_command() -> click.Command:
    """The command `sign`."""
    from celosia.model.people import ROLES

    params = [
        argument("release", type=PATH),
        option("sign", "--role", type=click.Choice(ROLES), required=True),
        option("sign", "--project", type=PATH),
        option("sign", "--note"),
        *passphrase_options("sign"),
    ]
    return build_command("sign", sign, params)


def publish_command() -> click.Command:
    """The command `publish`."""
    day = click.DateTime(formats=["%Y-%m-%d"])
    params = [
        project_argument(),
        argument("release", type=PATH),
        option("publish", "--consultation", type=day, metavar="AAAA-MM-DD"),
        option("publish", "--date", "publication_date", type=day, metavar="AAAA-MM-DD"),
        option("publish", "--update-period", required=True),
        *passphrase_options("publish"),
    ]
    return build_command("publish", publish, params)


def check_command() -> click.Command:
    """The command `check`."""
    return build_command("check", check, [project_argument(), *counting_options()])


def verify_command() -> click.Command:
    """The command `verify`."""
    names = ("--card", "--head", "--signed-pdf", "--trust")
    return build_command(
        "verify",
        verify,
        [argument("release", type=PATH), *(option("verify", n, type=PATH, multiple=True) for n in names)],
    )


def recheck_command() -> click.Command:
    """The command `recheck`."""
    params = [
        argument("release", type=PATH),
        names_option("recheck", "--new-quasi"),
        option("recheck", "--external", type=PATH),
        option("recheck", "--new-source", type=PATH),
    ]
    return build_command("recheck", recheck, params)


def release(project: Path, formats: tuple[str, ...], destroy_seed: bool, as_json: bool) -> None:
    """Make a release and show its rules."""
    from celosia.pipeline.release.make_release import make_release

    announce_first_time(as_json)
    with watching(as_json) as report:
        result = make_release(project, formats=formats or ("csv",), destroy_seed=destroy_seed, report=report)
    print_report(result, as_json, _show_release)
    if not as_json:
        print_next_act(project)


def _show_release(result: ReleaseResult) -> None:
    show_rules(result.rules)
    from celosia.dossier.figures import suppression_text

    manifest = result.manifest
    if manifest.label:
        say("release.pseudonymous")
    if manifest.seed == "destroyed":
        say("release.seed_destroyed")
    suppressed = suppression_text(manifest.suppression)
    say("release.released", path=result.folder, rows=manifest.rows, suppressed=suppressed)


def sign(
    release: Path,
    role: str,
    project: Path | None,
    note: str | None,
    as_json: bool,
    identity: Path | None,
    passphrase_file: Path | None,
) -> None:
    """Sign a release."""
    from celosia.pipeline.project.fingerprints import fingerprint
    from celosia.pipeline.project.identity import load_identity
    from celosia.pipeline.release.make_release import sign_release

    shown = _show_forms(release, project, err=as_json)
    loaded = load_identity(passphrase(passphrase_file), identity)
    signature = sign_release(release, project, loaded, role, note or "", expected=shown)
    if as_json:
        print_json(signature.as_dict())
    else:
        say("release.fingerprint", name=signature.name, fingerprint=fingerprint(signature.key))
        say("release.signed", name=signature.name, release=release.name, role=role_names([role]))
        print_next_act(project or path_from_here(release.resolve().parent.parent))


def _show_forms(release: Path, project: Path | None, err: bool) -> str:
    """Print what a signature covers, before the pass-phrase is asked for; give the digest of the manifest shown.

    Beside a JSON report it goes to the other stream.
    """
    from celosia.dossier.text import to_text
    from celosia.pipeline.release.forms import read_forms

    forms = read_forms(release, project)
    for document in forms.documents:
        click.echo(to_text(document, page_width()), err=err)
    if forms.papers:
        paths = ", ".join(str(path_from_here(path)) for path in forms.papers)
        click.echo(messages.text("release.forms_to_sign", paths=paths), err=err)
    return forms.manifest


def publish(
    project: Path,
    release: Path,
    consultation: datetime | None,
    publication_date: datetime | None,
    update_period: str,
    as_json: bool,
    identity: Path | None,
    passphrase_file: Path | None,
) -> None:
    """Record a release as published, signed by whoever answers for the project."""
    from celosia.pipeline.project.identity import load_identity
    from celosia.pipeline.release.publish import publish as record_publication

    publication = record_publication(
        project,
        release,
        load_identity(passphrase(passphrase_file), identity),
        consultation=consultation and consultation.date(),
        publication_date=publication_date and publication_date.date(),
        update_period=update_period,
    )
    if as_json:
        print_json(publication.as_dict())
    else:
        fields = {"date": publication.publication_date, "review": publication.next_review}
        say("release.published", release=publication.release, **fields)
        print_next_act(project)


def check(project: Path, as_json: bool, engine: str | None = None, memory: str | None = None) -> int:
    """Check the candidate again from the source, as the verifier; 1 when something does not hold."""
    from celosia.pipeline.candidate.verifier_check import check_candidate

    announce_first_time(as_json)
    with watching(as_json) as report:
        result = check_candidate(project, report=report, engine=engine, memory=memory)
    if as_json:
        print_json(result.as_dict())
    else:
        show_check(result.check)
        show_rules(result.rules)
        if result.closing is not None:
            show_closing(result.closing)
        if result.holds:
            say("release.in_house_holds")
        else:
            say("release.in_house_fails" if result.agrees else "release.in_house_differs")
        print_next_act(project)
    return 0 if result.holds else 1


def verify(
    release: Path,
    card: tuple[Path, ...],
    head: tuple[Path, ...],
    signed_pdf: tuple[Path, ...],
    trust: tuple[Path, ...],
    as_json: bool,
) -> int:
    """Verify what the release folder shows: 0 intact and signed by known people, 4 by people unknown, 1 not intact."""
    from celosia.pipeline.project.identity import read_card
    from celosia.pipeline.release.verify import verify_release

    cards, heads = ({key: name for name, key in map(read_card, paths)} for paths in (card, head))
    verification = verify_release(release, cards, heads=heads, signed_pdfs=signed_pdf, trust=trust)
    print_report(verification, as_json, _show_verification)
    return _EXIT_CODES[verification.answer]


def _show_verification(verification: VerifyReport) -> None:
    from celosia.model.rules import RuleReport
    from celosia.pipeline.project.fingerprints import fingerprint

    rows = []
    for finding in verification.findings:
        state = messages.text(f"plan.state_words.{finding.state}")
        rows.append([messages.text(f"release.finding.{finding.id}"), state, ", ".join(finding.detail)])
    header = labels("release", "question", "answer", "detail")
    print_table(messages.text("release.findings_title", release=verification.release), header, rows)
    if verification.check is not None:
        show_check(verification.check)
    show_rules(RuleReport("", verification.rules))
    if verification.signatures:
        header = labels("release", "role", "name", "when")
        rows = [
            [role_names([signature["role"]]), signature["name"], signature["when"]]
            for signature in verification.signatures
        ]
        print_table(messages.text("release.signatures_title"), header, rows)
        for name, key in {signature["name"]: signature["key"] for signature in verification.signatures}.items():
            say("release.fingerprint", name=name, fingerprint=fingerprint(key))
    if verification.label:
        say("release.pseudonymous")
    say(f"release.answer_{verification.answer}")


def recheck(
    release: Path, new_quasi: tuple[str, ...], external: Path | None, new_source: Path | None, as_json: bool
) -> int:
    """An old release under new assumptions, or an old project on a new file; 1 when there is work to do."""
    if new_source is not None:
        return _compare_sources(release, new_source, as_json)
    from celosia.pipeline.release.review import recheck as review_release

    review = review_release(release, new_quasi=new_quasi, external=external)
    print_report(review, as_json, _show_review)
    return 0 if review.holds else 1


def _show_review(review: RecheckReport) -> None:
    rows = [_figure("k", review.check.k)]
    rows += [_figure(key, getattr(review, key)) for key in ("asked_k", "unique_rows", "rows_below")]
    external = review.external
    if external is not None:
        for key in ("external_columns", "matched", "one_to_one"):
            value = external.columns if key == "external_columns" else getattr(external, key)
            rows.append(_figure(key, value, file=external.file))
    _print_figures(messages.text("release.recheck_title", release=review.release, quasi=", ".join(review.quasi)), rows)
    show_check(review.check)
    say("release.recheck_holds" if review.holds else "release.recheck_fails")
    if review.due:
        say("release.overdue" if review.overdue else "release.due", date=review.due)
    else:
        say("release.no_due")


def _compare_sources(project: Path, new_source: Path, as_json: bool) -> int:
    from celosia.pipeline.release.review import compare_sources

    difference = compare_sources(project, new_source)
    print_report(difference, as_json, _show_difference)
    return 1 if difference.needs_work else 0


def _show_difference(difference: SourceDifference) -> None:
    rows = [_figure(key, getattr(difference, key)) for key in ("rows_before", "rows_now", "came", "went")]
    for name, count in difference.new_values.items():
        rows.append(_figure("new_values", count, variable=name))
        label, uncovered = _figure("uncovered", difference.uncovered.get(name, 0))
        rows.append([f"  {label}", uncovered])
    rows += [_figure(key, getattr(difference, key)) for key in ("asked_k", "fallen", "small", "small_rows")]
    _print_figures(messages.text("release.difference_title", file=difference.file), rows)
    say("release.difference_work" if difference.needs_work else "release.difference_clean")


def _print_figures(title: str, rows: Sequence[Sequence[str]]) -> None:
    print_table(title, labels("release", "figure", "value"), rows, right=(1,))


def _figure(key: str, value: Any, **fields: object) -> list[str]:
    """A figure with its label; a list of names as they are."""
    label = messages.text(f"release.figures.{key}", **fields)
    if value is None or value == ():
        return [label, "–"]
    return [label, messages.integer(value) if isinstance(value, int) else ", ".join(value)]


def passphrase_options(section: str) -> list[click.Option]:
    """Where a key and its passphrase come from; a passphrase is never an option, which others could read."""
    return [option(section, "--identity", type=PATH), option(section, "--passphrase-file", type=PATH)]


def passphrase(file: Path | None) -> str:
    """The passphrase from a file, the environment, or the person at the terminal."""
    from celosia.cli.errors import PassphraseNeeded
    from celosia.storage import FileMissing

    if file is not None:
        try:
            return file.read_text("utf-8-sig").rstrip("\r\n")  # Notepad may begin it with a mark
        except (OSError, ValueError):
            raise FileMissing(path=str(file)) from None
    from_environment = os.environ.get("CELOSIA_PASSPHRASE")
    if from_environment is not None:
        return from_environment
    if not sys.stdin.isatty():
        raise PassphraseNeeded()
    return str(click.prompt(messages.text("release.passphrase"), hide_input=True, err=True))
