"""`celosia request` and `celosia claims`: what is asked for and why; what the motivated intruder found."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from celosia import messages
from celosia.cli._shell import argument, json_option, names_option, option, verb
from celosia.cli._show import print_done, print_json, print_table, say, watching

if TYPE_CHECKING:
    from celosia.model.closing import ClosingReport

# option -> item of request.toml, by how it is answered
_TEXTS = {
    "--title": "title", "--requester": "requester", "--aggregation": "aggregation", "--authorisation": "authorisation",
    "--use": "use", "--source-name": "source.name", "--period-from": "source.period_from",
    "--period-until": "source.period_until", "--unit": "source.unit", "--department": "source.department",
    "--purpose": "minsal.purpose", "--consent": "mel.consent", "--contact": "publication.contact",
    "--licence": "publication.licence", "--update-period": "publication.update_period",
    "--next-review": "publication.next_review",
}  # fmt: skip
_LISTS = {"--variables": "variables", "--limited": "legal.limited", "--responsible": "source.responsible",
          "--contrast": "mel.contrast"}  # fmt: skip
_FLAGS = {
    "--protected-by-law/--not-protected-by-law": "legal.protected_by_law",
    "--subject-authorisation/--no-subject-authorisation": "legal.subject_authorisation",
    "--administrative-act/--no-administrative-act": "minsal.administrative_act",
    "--has-dictionary/--no-dictionary": "minsal.dictionary",
    "--validated/--not-validated": "minsal.validated",
    "--homologated/--not-homologated": "minsal.homologated",
}
_KINDS = ("internal", "external")


def command() -> click.Command:
    """The verb `request`."""
    project = argument("project", type=click.Path(path_type=Path))
    return verb("request", run, [
        project,
        option("request", "--kind", type=click.Choice(_KINDS), default=None),
        *(option("request", name, default=None) for name in _TEXTS),
        *(names_option("request", name) for name in _LISTS),
        option("request", "--property", "properties", multiple=True, metavar="mean:INGRESO:0.01"),
        *(option("request", name, default=None) for name in _FLAGS),
        option("request", "--extract", is_flag=True),
        option("request", "--closing", is_flag=True),
        option("request", "--why", default=""),
        json_option(),
    ])  # fmt: skip


def claims_command() -> click.Command:
    """The verb `claims`."""
    project = argument("project", type=click.Path(path_type=Path))
    file = click.Path(path_type=Path)
    return verb("claims", claims, [project, option("claims", "--into", type=file, default=None), json_option()])


def run(project: Path, extract: bool, closing: bool, why: str, as_json: bool, **given: Any) -> int:
    """Write answers, or the questions; then show what is still missing; 1 while something is."""
    from celosia.pipeline import extract_requested, missing_items, open_project, write_request

    found = open_project(project)
    answers = _answers(given, [variable.name for variable in found.variables()])
    asked = not answers and not (extract or closing or as_json) and sys.stdin.isatty()
    if asked:
        answers = _asked(found)
    if answers or not (project / "request.toml").is_file():
        write_request(project, why=why, **answers)
    if extract:
        names = extract_requested(project)
        click.echo(messages.text("request.extracted", names=", ".join(names)), err=as_json)
    if closing:
        return _closing(project, as_json)
    from celosia.pipeline import read_request

    request = read_request(project)
    missing = missing_items(request, found.config.protocols)
    if as_json:
        print_json(request.as_dict() | {"missing": list(missing)})
    else:
        _show(request, missing, project / "request.toml")
    return 1 if missing else 0


def _answers(given: dict[str, Any], known: list[str]) -> dict[str, Any]:
    """What the options answer, under the file's own names."""
    from celosia.pipeline import parsed_property

    items = {**_TEXTS, **_LISTS, **_FLAGS}
    place = {name.split("/")[0].removeprefix("--").replace("-", "_"): key for name, key in items.items()}
    made = {place[name]: value for name, value in given.items() if name in place and value not in (None, ())}
    if given["kind"]:
        made["kind"] = given["kind"]
    if given["properties"]:
        made["properties"] = [parsed_property(words, known) for words in given["properties"]]
    return {key: list(value) if isinstance(value, tuple) else value for key, value in made.items()}


def _asked(found: Any) -> dict[str, Any]:
    """Ask for what the project's protocols demand and nobody answered; an empty answer leaves it empty."""
    from celosia.model.requests import Request
    from celosia.pipeline import missing_items, parsed_property, read_request

    request = read_request(found.folder) if (found.folder / "request.toml").is_file() else Request()
    known = [variable.name for variable in found.variables()]
    flags, lists = set(_FLAGS.values()), {*_LISTS.values(), "properties"}
    made: dict[str, Any] = {}
    for key in missing_items(request, found.config.protocols):
        words = click.prompt(messages.text(f"request.item.{key}"), default="", show_default=False, err=True).strip()
        if not words:
            continue
        if key in flags:
            made[key] = words.lower() in ("s", "sí", "si", "y", "yes", "true")
        elif key in lists:
            parts = [part.strip() for part in words.split(",") if part.strip()]
            made[key] = [parsed_property(part, known) for part in parts] if key == "properties" else parts
        else:
            made[key] = words
    return made


def _show(request: Any, missing: tuple[str, ...], path: Path) -> None:
    from celosia.pipeline import request_questions

    rows = [[_name(key), _words(request.item(key))] for key in request_questions()]
    header = [messages.text("request.head.item"), messages.text("request.head.answer")]
    print_table(messages.text("request.title"), header, [row for row in rows if row[1]])
    say("request.written", path=path)
    if missing:
        say("request.missing", names=", ".join(_name(key) for key in missing))
    else:
        say("request.complete")


def _name(key: str) -> str:
    return messages.text(f"protocols.item.{key}") if messages.has(f"protocols.item.{key}") else key


def _words(value: Any) -> str:
    if isinstance(value, bool):
        return messages.text(f"dictionary.answer.{'yes' if value else 'no'}")
    if isinstance(value, dict):
        tolerance = [str(value["tolerance"])] if "tolerance" in value else []
        return ":".join([value["property"], *value.get("variables", ()), *tolerance])
    return ", ".join(_words(one) for one in value) if isinstance(value, list | tuple) else str(value or "")


def _closing(project: Path, as_json: bool) -> int:
    from celosia.pipeline import closing_evaluation

    with watching(as_json) as watch:
        report = closing_evaluation(project, report=watch)
    if as_json:
        print_json(report.as_dict())
    else:
        _show_closing(report)
    return 0 if report.passes else 1


def _show_closing(report: ClosingReport) -> None:
    from celosia.dossier import figure_text, percent_text, result_text

    heads = ("property", "variable", "difference", "relative", "tolerance", "result")
    header = [messages.text(f"request.head.{key}") for key in heads]
    header[2:2] = [messages.text("evaluation.before"), messages.text("evaluation.after")]
    rows = [
        [messages.text(f"evaluation.measure.{one.property}.name"), one.variable, figure_text(one.before),
         figure_text(one.after), figure_text(one.difference), percent_text(one.relative), figure_text(one.tolerance),
         result_text(one)]
        for one in report.properties
    ]  # fmt: skip
    print_table(messages.text("request.closing"), header, rows, right=(2, 3, 4, 5, 6))
    if not report.properties:
        say("request.nothing_chosen")
    seen = report.observations
    say("request.observations", before=int(seen.before or 0), after=int(seen.after or 0))
    if report.limited:
        say("request.limited", names=", ".join(report.limited))
    click.echo(report.residual)


_RECORDS = 20  # the most exposed ones; nobody tries more in a day


def claims(project: Path, into: Path | None, as_json: bool) -> int:
    """Show the intruder's results, or write the form where there are none."""
    from celosia.pipeline import claims_summary, write_claims_form

    found = claims_summary(project) if into is None else None
    if found is None:
        path = write_claims_form(project, into, records=_RECORDS)
        if as_json:
            print_done("claims-form", path=str(path))
        else:
            say("request.claims_form", path=path)
        return 0
    if as_json:
        print_json({"format": "celosia/claims-read/1", **found.as_dict()})
    else:
        from celosia.dossier import human_sentence

        click.echo(human_sentence(found))
    return 1 if found.correct else 0
