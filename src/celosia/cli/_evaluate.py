"""`celosia evaluate`: what a release lost, what it kept, and what risk is left."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from celosia import messages
from celosia.cli._reading import counting_options, reading_choices, reading_options
from celosia.cli._shell import argument, json_option, names_option, option, verb
from celosia.cli._show import print_json, print_table, say, watching
from celosia.model.scenarios import threshold_text

if TYPE_CHECKING:
    from celosia.model.evaluation import EvaluationReport


def command() -> click.Command:
    """The verb."""
    return verb(
        "evaluate",
        run,
        [
            argument("before"),
            argument("after", required=False),
            names_option("evaluate", "--keep"),
            option("evaluate", "--tolerance", multiple=True, callback=_apart, metavar="A,B,C"),
            names_option("evaluate", "--variables"),
            names_option("evaluate", "--quasi"),
            names_option("evaluate", "--contrast"),
            option("evaluate", "--key", default=None),
            option("evaluate", "--weights", default=None),
            names_option("evaluate", "--match"),
            option("evaluate", "--period", default=None),
            option("evaluate", "--alpha", type=click.FloatRange(min=0, max=1), default=0.05),
            option("evaluate", "--threshold", default="0.3", metavar="0–1"),
            option("evaluate", "--explain", is_flag=True),
            option("evaluate", "--report", "page", type=click.Path(path_type=Path), default=None),
            option("evaluate", "--pictures", type=click.Path(path_type=Path), default=None),
            *reading_options(),
            *counting_options(),
            json_option(),
        ],
    )


def _apart(_: click.Context, __: click.Parameter, given: Sequence[str]) -> tuple[str, ...]:
    """Tolerances separated by commas, but for the comma of 0,05."""
    parts = [part.strip() for words in given for part in re.split(r",(?!\d)|(?<!\d),", words)]
    return tuple(part for part in parts if part)


def run(
    before: str,
    after: str | None,
    match: tuple[str, ...],
    explain: bool,
    page: Path | None,
    pictures: Path | None,
    as_json: bool,
    **asked: Any,
) -> int:
    """Evaluate, save and show; 1 where a property that was asked for is not kept."""
    from celosia.dossier import definitions
    from celosia.pipeline import evaluate, save_evaluation

    choices = reading_choices(asked)
    wanted = {name: asked[name] for name in _ASKED}
    with watching(as_json) as watch:
        report = evaluate(before, after, match=_renamed(match), report=watch, **wanted, **choices)
    saved = save_evaluation(report, page, pictures)
    chosen = bool(asked["keep"] or asked["contrast"])
    if as_json:
        keys = ("name", "definition", "source")
        told = {one: dict(zip(keys, words, strict=True)) for one, *words in definitions(report)} if explain else {}
        print_json(report.as_dict() | ({"definitions": told} if explain else {}))
    else:
        show_evaluation(report)
        if explain:
            print_table(messages.text("evaluation.section.definitions"), _header("measure", "definition", "source"),
                        [words for _, *words in definitions(report)])  # fmt: skip
        for path in saved:
            say("cli.evaluate.saved", path=path)
    return 1 if chosen and not report.passes else 0


_ASKED = ("keep", "tolerance", "variables", "quasi", "contrast", "key", "weights", "period", "alpha", "threshold")


def _renamed(match: tuple[str, ...]) -> dict[str, str]:
    """NEW=OLD as a mapping."""
    pairs = {}
    for words in match:
        new, equals, old = words.partition("=")
        if not equals or not new.strip() or not old.strip():
            raise click.BadParameter("", param_hint="--match")
        pairs[new.strip()] = old.strip()
    return pairs


def show_evaluation(report: EvaluationReport) -> None:
    """The report on a terminal: sentences, then short tables, the residual risk last."""
    from celosia.dossier import evaluation_sentences, residual_risk

    for sentence in evaluation_sentences(report):
        click.echo(sentence)
    _show_properties(report)
    _show_contrast(report)
    _show_variables(report)
    _show_numeric(report)
    _show_risk(report)
    click.echo(residual_risk(report.risk))


def _show_properties(report: EvaluationReport) -> None:
    from celosia.dossier import figure_text, percent_text, result_text

    if not report.properties:
        return
    rows = [
        [messages.text(f"evaluation.measure.{c.property}.name"), c.variable, figure_text(c.before),
         figure_text(c.after), figure_text(c.difference), percent_text(c.relative), result_text(c)]
        for c in report.properties
    ]  # fmt: skip
    header = [*_header("property", "variable"), *_sides(), *_header("difference", "relative", "result")]
    print_table(messages.text("evaluation.section.properties"), header, rows, right=(2, 3, 4, 5))


def _show_contrast(report: EvaluationReport) -> None:
    if not report.contrast:
        return
    rows = [
        [c.variable, messages.text(f"dictionary.mel_label.{c.label}") if c.label else "–", _equality(c.equal)]
        for c in report.contrast
    ]
    print_table(messages.text("evaluation.section.contrast"), _header("variable", "label", "result"), rows)


def _show_variables(report: EvaluationReport) -> None:
    from celosia.dossier import figure_text, percent_text

    moved = {one.variable: one for one in report.distances}
    names = ("total_variation", "hellinger", "kolmogorov_smirnov", "earth_mover")
    header = [*_header("variable", "loss", "masked", "changed"),
              *(messages.text(f"evaluation.measure.{name}.name") for name in names)]  # fmt: skip
    rows = []
    for v in report.loss.variables:
        far = moved.get(v.variable)
        rows.append([v.variable, messages.percent(v.loss), messages.integer(v.masked_cells),
                     percent_text(v.changed_share),
                     *(figure_text(getattr(far, name) if far else None) for name in names)])  # fmt: skip
    print_table(messages.text("evaluation.section.loss"), header, rows, right=tuple(range(1, 8)))


def _show_numeric(report: EvaluationReport) -> None:
    from celosia.dossier import figure_text

    figures: dict[str, float | None] = dict(report.loss.search)
    if report.numeric is not None:
        names = ("il1s", "il1s_per_cell", "squared_error_share", "eigenvalues", "within_reach")
        figures |= {name: getattr(report.numeric, name) for name in names}
    rows = [[messages.text(f"evaluation.measure.{name}.name"), figure_text(value)] for name, value in figures.items()]
    if rows:
        title = "evaluation.section.numeric" if report.numeric is not None else "evaluation.section.search"
        print_table(messages.text(title), _header("measure", "value"), rows, right=(1,))


def _show_risk(report: EvaluationReport) -> None:
    from celosia.dossier import figure_text

    if report.risk is None:
        return
    first, second = report.risk.before, report.risk.after
    names = {"k": "k", "k_persons": "k_persons", "classes": "classes", "unique": "unique_rows",
             "at_risk": "at_risk", "largest": "largest_risk", "suppressed": "suppressed_rows"}  # fmt: skip
    rows = []
    for key, name in names.items():
        pair = getattr(first, name), getattr(second, name)
        if pair != (None, None):
            rows.append([messages.text(f"evaluation.risk.{key}"), *(figure_text(one) for one in pair)])
    title = messages.text("evaluation.risk.quasi", names=", ".join(report.risk.quasi),
                          threshold=threshold_text(report.risk.threshold))  # fmt: skip
    print_table(title, [*_header("measure"), *_sides()], rows, right=(1, 2))


def _header(*names: str) -> list[str]:
    return [messages.text(f"evaluation.head.{name}") for name in names]


def _sides() -> list[str]:
    return [messages.text("evaluation.before"), messages.text("evaluation.after")]


def _equality(equal: bool) -> str:
    return messages.text("evaluation.result.equal" if equal else "evaluation.result.differs")
