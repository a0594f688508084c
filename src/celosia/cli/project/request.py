"""`celosia request` and `celosia claims`: what is requested and why; what the motivated intruder found."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from celosia import messages
from celosia.cli.shell import PATH, build_command, names_option, option, project_argument
from celosia.cli.show import labels, print_done, print_json, print_report, print_table, say, watching, yes_or_no

if TYPE_CHECKING:
    from celosia.model.reports.attacks import AttackReport, HumanPart
    from celosia.model.reports.closing import ClosingReport

# The items of request.toml, by how they are answered.
_TEXTS = (
    "title requester official received aggregation authorisation use source.name source.period_from "
    "source.period_until source.unit source.department minsal.purpose minsal.no_sensitive_attribute mel.consent "
    "publication.contact publication.licence publication.update_period publication.next_review"
).split()
_LISTS = "variables legal.limited source.responsible mel.contrast".split()
_FLAGS = {
    "legal.protected_by_law": "--protected-by-law/--not-protected-by-law",
    "legal.subject_authorisation": "--subject-authorisation/--no-subject-authorisation",
    "minsal.administrative_act": "--administrative-act/--no-administrative-act",
    "minsal.dictionary": "--has-dictionary/--no-dictionary",
    "minsal.validated": "--validated/--not-validated",
    "minsal.homologated": "--homologated/--not-homologated",
    "minsal.particularly_sensitive": "--particularly-sensitive/--not-particularly-sensitive",
}
# The most exposed records of a form; nobody tries more in a day.
_RECORDS = 20


def _option_of(item: str) -> str:
    """The option that answers an item: its last word, unless that is ambiguous."""
    if item in _FLAGS:
        return _FLAGS[item]
    return "--source-name" if item == "source.name" else "--" + item.rpartition(".")[2].replace("_", "-")


def command() -> click.Command:
    """The command `request`."""
    params = [
        project_argument(),
        option("request", "--kind", type=click.Choice(("internal", "external")), default=None),
        *(option("request", _option_of(item), default=None) for item in _TEXTS),
        *(names_option("request", _option_of(item)) for item in _LISTS),
        option("request", "--property", "properties", multiple=True, metavar="mean:INGRESO:0.01"),
        *(option("request", _option_of(item), default=None) for item in _FLAGS),
        option("request", "--extract", is_flag=True),
        option("request", "--closing", is_flag=True),
        option("request", "--why", default=""),
    ]
    return build_command("request", run, params)


def claims_command() -> click.Command:
    """The command `claims`."""
    return build_command("claims", claims, [project_argument(), option("claims", "--into", type=PATH, default=None)])


def run(project: Path, extract: bool, closing: bool, why: str, as_json: bool, **settings: Any) -> int:
    """Write answers, or the questions; then show what is still missing; 1 while something is."""
    from celosia.pipeline.project.edits import extract_requested, read_request, write_request
    from celosia.pipeline.project.folder import open_project
    from celosia.pipeline.project.request import missing_items

    opened_project = open_project(project)
    answers = _answers(settings, [variable.name for variable in opened_project.variables])
    if not answers and not (extract or closing or as_json) and sys.stdin.isatty():
        answers = _ask_missing_items(opened_project)
    if answers or not opened_project.paths.request.is_file():
        write_request(project, why=why, **answers)
    if extract:
        names = extract_requested(project)
        click.echo(messages.text("request.extracted", names=", ".join(names)), err=as_json)
    if closing:
        return _closing(project, as_json)
    request = read_request(project)
    missing = missing_items(request, opened_project.config.protocols)
    if as_json:
        print_json(request.as_dict() | {"missing": list(missing)})
    else:
        _show(request, missing, opened_project.paths.request)
    return 1 if missing else 0


def _answers(settings: dict[str, Any], known: list[str]) -> dict[str, Any]:
    """What the options answer, by item of request.toml."""
    from celosia.pipeline.project.request import parse_property

    answers: dict[str, Any] = {}
    for item in (*_TEXTS, *_LISTS, *_FLAGS):
        value = settings[_option_of(item).split("/")[0].removeprefix("--").replace("-", "_")]
        if value not in (None, ()):
            answers[item] = list(value) if isinstance(value, tuple) else value
    if settings["kind"]:
        answers["kind"] = settings["kind"]
    if settings["properties"]:
        answers["properties"] = [parse_property(text, known) for text in settings["properties"]]
    return answers


def _ask_missing_items(project: Any) -> dict[str, Any]:
    """Ask for what the project's protocols require and nobody answered; an empty answer leaves it empty."""
    from celosia.model.requests import Request
    from celosia.pipeline.project.request import missing_items, parse_property

    request = project.request or Request()
    known = [variable.name for variable in project.variables]
    answers: dict[str, Any] = {}
    for key in missing_items(request, project.config.protocols):
        text = click.prompt(messages.text(f"request.item.{key}"), default="", show_default=False, err=True).strip()
        if not text:
            continue
        if key in _FLAGS:
            answers[key] = text.lower() in ("s", "sí", "si", "y", "yes", "true")
        elif key in (*_LISTS, "properties"):
            parts = [part.strip() for part in text.split(",") if part.strip()]
            answers[key] = [parse_property(part, known) for part in parts] if key == "properties" else parts
        else:
            answers[key] = text
    return answers


def _show(request: Any, missing: tuple[str, ...], path: Path) -> None:
    from celosia.pipeline.project.request import QUESTIONS

    rows = [[_item_name(key), _answer_text(request.item(key))] for key in QUESTIONS]
    print_table(
        messages.text("request.title"), labels("request.head", "item", "answer"), [row for row in rows if row[1]]
    )
    say("request.written", path=path)
    if missing:
        say("request.missing", names=", ".join(_item_name(key) for key in missing))
    else:
        say("request.complete")


def _item_name(key: str) -> str:
    return messages.text(f"protocols.item.{key}") if messages.has(f"protocols.item.{key}") else key


def _answer_text(value: Any) -> str:
    if isinstance(value, bool):
        return yes_or_no(value)
    if isinstance(value, dict):
        tolerance = [str(value["tolerance"])] if "tolerance" in value else []
        return ":".join([value["property"], *value.get("variables", ()), *tolerance])
    return ", ".join(_answer_text(item) for item in value) if isinstance(value, list | tuple) else str(value or "")


def _closing(project: Path, as_json: bool) -> int:
    from celosia.pipeline.candidate.closing_evaluation import closing_evaluation

    with watching(as_json) as watch:
        report = closing_evaluation(project, report=watch)
    print_report(report, as_json, show_closing)
    return 0 if report.passes else 1


def show_closing(report: ClosingReport) -> None:
    """The closing evaluation; where something is not kept, what, by how much and the ways out."""
    from celosia.dossier.closing import failing_text, ways_out
    from celosia.dossier.evaluation import figure_text, percent_text, result_text

    header = labels("request.head", "property", "variable", "difference", "relative", "tolerance", "result")
    header[2:2] = labels("evaluation", "before", "after")
    rows = []
    for check in report.properties:
        name = messages.text(f"evaluation.measure.{check.property}.name")
        figures = [figure_text(figure) for figure in (check.before, check.after, check.difference)]
        limits = [percent_text(check.relative), figure_text(check.tolerance)]
        rows.append([name, check.variable, *figures, *limits, result_text(check)])
    print_table(messages.text("request.closing"), header, rows, right=(2, 3, 4, 5, 6))
    if not report.properties:
        say("request.nothing_chosen")
    observations = report.observations
    say("request.observations", before=int(observations.before or 0), after=int(observations.after or 0))
    if report.limited:
        say("request.limited", names=", ".join(report.limited))
    click.echo(report.residual)
    if not report.passes:
        say("status.reason.not_kept", failing=failing_text(report), ways=ways_out())


def claims(project: Path, into: Path | None, as_json: bool) -> int:
    """Show the intruder's results, or write the form where there are none."""
    from celosia.pipeline.intruder.attack import attack_where_asked
    from celosia.pipeline.intruder.claims import claims_summary, write_claims_form

    with watching(as_json) as watch:
        attacks = attack_where_asked(project, report=watch)
    summary = claims_summary(project) if into is None else None
    if summary is None:
        path = write_claims_form(project, into, records=_RECORDS)
        if as_json:
            print_done("claims-form", path=str(path))
        else:
            say("request.claims_form", path=path)
            _show_attacks(attacks)
        return 0
    if as_json:
        print_json({"format": "celosia/claims-read/1", **summary.as_dict()})
    else:
        _show_claims(project, summary)
        _show_attacks(attacks)
    return 1 if summary.correct else 0


def _show_claims(project: Path, summary: HumanPart) -> None:
    """The result, who tried, and what is missing until it can be signed."""
    from celosia.dossier.intruder_words import human_sentence, outsider_text
    from celosia.pipeline.candidate.rules import intruder_shortfall
    from celosia.pipeline.intruder.claims import outsiders_of

    click.echo(human_sentence(summary))
    for outsider in outsiders_of(project):
        click.echo(outsider_text(outsider))
    if not summary.current:
        return
    lacking = intruder_shortfall(project)
    if lacking:
        say("request.claims_lacking", lacking=lacking)
    else:
        say("request.claims_sign", project=project)


def _show_attacks(report: AttackReport | None) -> None:
    """What the attacks that a protocol asks for found; nothing where none does."""
    from celosia.dossier.intruder_words import attacks_sentences

    for sentence in attacks_sentences(report) if report is not None else ():
        click.echo(sentence)
