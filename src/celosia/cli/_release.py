"""`celosia release`, `sign`, `publish`, `check`, `verify`, `recheck`: from the candidate to the public and back."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

import click

from celosia import messages
from celosia.cli._plan import show_check
from celosia.cli._protocol import show_rules
from celosia.cli._reading import counting_options
from celosia.cli._shell import argument, json_option, names_option, option, verb
from celosia.cli._show import announce_first_time, print_json, print_table, say, watching

_FORMATS = ("csv", "parquet", "sav", "dta", "xlsx")
_SHORT_KEY = 16


def release_command() -> click.Command:
    """The verb `release`."""
    return verb("release", release, [
        _project(), names_option("release", "--formats", choices=_FORMATS),
        option("release", "--destroy-seed", is_flag=True), json_option(),
    ])  # fmt: skip


def sign_command() -> click.Command:
    """The verb `sign`."""
    from celosia.model.people import ROLES

    return verb("sign", sign, [
        _release(), option("sign", "--role", type=click.Choice(ROLES), required=True),
        option("sign", "--project", type=click.Path(path_type=Path)), option("sign", "--note"),
        *passphrase_options("sign"), json_option(),
    ])  # fmt: skip


def publish_command() -> click.Command:
    """The verb `publish`."""
    day = click.DateTime(formats=["%Y-%m-%d"])
    return verb("publish", publish, [
        _project(), _release(), option("publish", "--consultation", type=day, metavar="AAAA-MM-DD"),
        option("publish", "--date", "publication_date", type=day, metavar="AAAA-MM-DD"),
        option("publish", "--update-period", required=True), json_option(),
    ])  # fmt: skip


def check_command() -> click.Command:
    """The verb `check`."""
    return verb("check", check, [_project(), *counting_options(), json_option()])


def verify_command() -> click.Command:
    """The verb `verify`."""
    card = click.Path(path_type=Path)
    return verb("verify", verify, [_release(), option("verify", "--card", type=card, multiple=True), json_option()])


def recheck_command() -> click.Command:
    """The verb `recheck`."""
    file = click.Path(path_type=Path)
    return verb("recheck", recheck, [
        _release(), names_option("recheck", "--new-quasi"), option("recheck", "--external", type=file),
        option("recheck", "--new-source", type=file), json_option(),
    ])  # fmt: skip


def _project() -> click.Argument:
    return argument("project", type=click.Path(path_type=Path))


def _release() -> click.Argument:
    return argument("release", type=click.Path(path_type=Path))


# --- making, signing, publishing ------------------------------------------------------------------


def release(project: Path, formats: tuple[str, ...], destroy_seed: bool, as_json: bool) -> None:
    """Make a release and show its rules."""
    from celosia.pipeline import make_release

    announce_first_time(as_json)
    with watching(as_json) as report:
        made = make_release(project, formats=formats or ("csv",), destroy_seed=destroy_seed, report=report)
    if as_json:
        print_json(made.as_dict())
        return
    show_rules(made.rules)
    if made.manifest.label:
        say("release.pseudonymous")
    if made.manifest.seed == "destroyed":
        say("release.seed_destroyed")
    say("release.released", path=made.folder, rows=made.manifest.rows, suppressed=made.manifest.suppressed_rows)


def sign(
    release: Path, role: str, project: Path | None, note: str | None, as_json: bool, identity: Path | None,
    passphrase_file: Path | None,
) -> None:  # fmt: skip
    """Sign a release."""
    from celosia.pipeline import load_identity, sign_release

    opened = load_identity(passphrase(passphrase_file), identity)
    made = sign_release(release, project, opened, role, note or "")
    if as_json:
        print_json(made.as_dict())
        return
    say("release.signed", name=made.name, release=release.name, role=messages.text(f"protocols.role.{role}"))


def publish(
    project: Path, release: Path, consultation: datetime | None, publication_date: datetime | None,
    update_period: str, as_json: bool,
) -> None:  # fmt: skip
    """Enter a release as published."""
    from celosia.pipeline import publish as enter

    made = enter(
        project, release, consultation=_day(consultation), publication_date=_day(publication_date),
        update_period=update_period,
    )  # fmt: skip
    if as_json:
        print_json(made.as_dict())
        return
    say("release.published", release=made.release, date=made.publication_date, review=made.next_review)


def _day(given: datetime | None) -> date | None:
    return None if given is None else given.date()


# --- looking again --------------------------------------------------------------------------------


def check(project: Path, as_json: bool, engine: str | None = None, memory: str | None = None) -> int:
    """The verifier's own look; 1 when something does not hold."""
    from celosia.pipeline import check_in_house

    announce_first_time(as_json)
    with watching(as_json) as report:
        made = check_in_house(project, report=report, engine=engine, memory=memory)
    if as_json:
        print_json(made.as_dict())
    else:
        show_check(made.check)
        show_rules(made.rules)
        if made.holds:
            say("release.in_house_holds", project=project)
        else:
            say("release.in_house_fails" if made.agrees else "release.in_house_differs")
    return 0 if made.holds else 1


def verify(release: Path, card: tuple[Path, ...], as_json: bool) -> int:
    """What the release folder shows; 1 when it does not stand."""
    from celosia.model.rules import RuleReport
    from celosia.pipeline import read_card, verify_release

    made = verify_release(release, [read_card(one)[1] for one in card])
    if as_json:
        print_json(made.as_dict())
        return 0 if made.holds else 1
    rows = [[messages.text(f"release.finding.{f.id}"), _state(f.state), ", ".join(f.detail)] for f in made.findings]
    header = [messages.text(f"release.{key}") for key in ("question", "answer", "detail")]
    print_table(messages.text("release.findings_title", release=made.release), header, rows)
    if made.check is not None:
        show_check(made.check)
    show_rules(RuleReport("", made.rules))
    _show_signatures(made.signatures)
    if made.label:
        say("release.pseudonymous")
    say("release.verify_holds" if made.holds else "release.verify_fails")
    return 0 if made.holds else 1


def recheck(
    release: Path, new_quasi: tuple[str, ...], external: Path | None, new_source: Path | None, as_json: bool
) -> int:
    """An old release under new assumptions, or an old project on a new file; 1 when there is work to do."""
    if new_source is not None:
        return _show_difference(release, new_source, as_json)
    from celosia.pipeline import recheck as again

    made = again(release, new_quasi=new_quasi, external=external)
    if as_json:
        print_json(made.as_dict())
        return 0 if made.holds else 1
    figures = {"k": made.check.k, "asked_k": made.asked_k, "unique_rows": made.unique_rows,
               "rows_below": made.rows_below}  # fmt: skip
    rows = [[messages.text(f"release.figures.{key}"), _shown(value)] for key, value in figures.items()]
    if made.external is not None:
        file = made.external.file
        rows.append([messages.text("release.figures.external_columns", file=file), ", ".join(made.external.columns)])
        rows.append([messages.text("release.figures.matched", file=file), _shown(made.external.matched)])
        rows.append([messages.text("release.figures.one_to_one", file=file), _shown(made.external.one_to_one)])
    _print_figures(messages.text("release.recheck_title", release=made.release, quasi=", ".join(made.quasi)), rows)
    show_check(made.check)
    say("release.recheck_holds" if made.holds else "release.recheck_fails")
    if made.due:
        say("release.overdue" if made.overdue else "release.due", date=made.due)
    else:
        say("release.no_due")
    return 0 if made.holds else 1


def _show_difference(project: Path, new_source: Path, as_json: bool) -> int:
    from celosia.pipeline import compare_sources

    made = compare_sources(project, new_source)
    if as_json:
        print_json(made.as_dict())
        return 1 if made.needs_work else 0
    plain = ("rows_before", "rows_now", "came", "went")
    rows = [[messages.text(f"release.figures.{key}"), _shown(getattr(made, key))] for key in plain]
    for name, count in made.new_values.items():
        rows.append([messages.text("release.figures.new_values", variable=name), _shown(count)])
        rows.append(["  " + messages.text("release.figures.uncovered"), _shown(made.uncovered.get(name, 0))])
    rows.append([messages.text("release.figures.asked_k"), _shown(made.asked_k)])
    classes = ("fallen", "small", "small_rows")
    rows += [[messages.text(f"release.figures.{key}"), _shown(getattr(made, key))] for key in classes]
    _print_figures(messages.text("release.difference_title", file=made.file), rows)
    say("release.difference_work" if made.needs_work else "release.difference_clean")
    return 1 if made.needs_work else 0


# --- showing --------------------------------------------------------------------------------------


def _show_signatures(signatures: Sequence[Any]) -> None:
    if signatures:
        header = [messages.text(f"release.{key}") for key in ("role", "name", "key", "when")]
        rows = [
            [messages.text(f"protocols.role.{one['role']}"), one["name"], one["key"][:_SHORT_KEY] + "…", one["when"]]
            for one in signatures
        ]
        print_table(messages.text("release.signatures_title"), header, rows)


def _print_figures(title: str, rows: Sequence[Sequence[str]]) -> None:
    print_table(title, [messages.text("release.figure"), messages.text("release.value")], rows, right=(1,))


def _state(state: Any) -> str:
    return messages.text(f"plan.state_words.{state}")


def _shown(value: Any) -> str:
    if value is None or value == ():
        return "–"
    return messages.integer(value) if isinstance(value, int) else ", ".join(value)


# --- passphrases ----------------------------------------------------------------------------------


def passphrase_options(section: str) -> list[click.Option]:
    """Where a key and its passphrase come from; a passphrase is never an option, which others could read."""
    file = click.Path(path_type=Path)
    return [option(section, "--identity", type=file), option(section, "--passphrase-file", type=file)]


def passphrase(file: Path | None) -> str:
    """The passphrase from a file, the environment, or the person at the terminal."""
    from celosia.errors import FileMissing, PassphraseNeeded

    if file is not None:
        try:
            return file.read_text("utf-8").rstrip("\r\n")
        except (OSError, ValueError):
            raise FileMissing(path=str(file)) from None
    given = os.environ.get("CELOSIA_PASSPHRASE")
    if given is not None:
        return given
    if not sys.stdin.isatty():
        raise PassphraseNeeded()
    return str(click.prompt(messages.text("release.passphrase"), hide_input=True, err=True))


__all__ = [
    "check_command", "passphrase", "passphrase_options", "publish_command", "recheck_command",
    "release_command", "sign_command", "verify_command",
]  # fmt: skip
