"""`celosia evaluate`: the loss, the preserved properties and the residual risk of a release."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from celosia import messages
from celosia.cli.reading import counting_options, reading_choices, reading_options
from celosia.cli.shell import PATH, argument, build_command, names_option, option
from celosia.cli.show import labels, print_json, print_table, say, watching
from celosia.model.reports.scenarios import threshold_text

if TYPE_CHECKING:
    from celosia.model.reports.evaluation import EvaluationReport

_REQUEST = "keep tolerance variables quasi contrast key weights period alpha threshold".split()
_HEAD = "evaluation.head"


def command() -> click.Command:
    """The command."""
    params = [
        argument("before"),
        argument("after", required=False),
        names_option("evaluate", "--keep"),
        option("evaluate", "--tolerance", multiple=True, callback=_split_tolerances, metavar="A,B,C"),
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
        option("evaluate", "--report", "page", type=PATH, default=None),
        option("evaluate", "--pictures", type=PATH, default=None),
        *reading_options(),
        *counting_options(),
    ]
    return build_command("evaluate", run, params)


def _split_tolerances(_: click.Context, __: click.Parameter, texts: Sequence[str]) -> tuple[str, ...]:
    """Tolerances separated by commas; the decimal comma of 0,05 separates nothing."""
    parts = [part.strip() for text in texts for part in re.split(r",(?!\d)|(?<!\d),", text)]
    return tuple(part for part in parts if part)


def run(
    before: str,
    after: str | None,
    match: tuple[str, ...],
    explain: bool,
    page: Path | None,
    pictures: Path | None,
    as_json: bool,
    **settings: Any,
) -> int:
    """Evaluate, save and show; 1 where a property that was asked for is not preserved."""
    from celosia.dossier.evaluation import definitions
    from celosia.drawing.typesetter import load_typst
    from celosia.pipeline.assessment.evaluate import evaluate
    from celosia.pipeline.assessment.evaluation_files import save_evaluation

    request = {name: settings[name] for name in _REQUEST}
    if pictures is not None:
        load_typst()  # the pictures are PNG too: said before an evaluation that may take long
    with watching(as_json) as watch:
        report = evaluate(
            before, after, match=_parse_matches(match), report=watch, **request, **reading_choices(settings)
        )
    saved = save_evaluation(report, page, pictures)
    defined = list(definitions(report)) if explain else []
    if as_json:
        keys = ("name", "definition", "source")
        by_measure = {measure: dict(zip(keys, texts, strict=True)) for measure, *texts in defined}
        print_json(report.as_dict() | ({"definitions": by_measure} if explain else {}))
    else:
        show_evaluation(report)
        if explain:
            header = labels(_HEAD, "measure", "definition", "source")
            print_table(messages.text("evaluation.section.definitions"), header, [texts for _, *texts in defined])
        for path in saved:
            say("cli.evaluate.saved", path=path)
    has_conditions = bool(settings["keep"] or settings["contrast"])
    return 1 if has_conditions and not report.passes else 0


def _parse_matches(match: tuple[str, ...]) -> dict[str, str]:
    """NEW=OLD as a mapping."""
    pairs = {}
    for pair in match:
        new, equals, old = (part.strip() for part in pair.partition("="))
        if not equals or not new or not old:
            raise click.BadParameter("", param_hint="--match")
        pairs[new] = old
    return pairs


def show_evaluation(report: EvaluationReport) -> None:
    """The report on a terminal: sentences, then short tables, the residual risk last."""
    from celosia.dossier.evaluation import evaluation_sentences, residual_risk

    for sentence in evaluation_sentences(report):
        click.echo(sentence)
    _show_properties(report)
    _show_contrast(report)
    _show_variables(report)
    _show_numeric(report)
    _show_risk(report)
    click.echo(residual_risk(report.risk))


def _show_properties(report: EvaluationReport) -> None:
    from celosia.dossier.evaluation import figure_text, percent_text, result_text

    rows = []
    for check in report.properties:
        figures = [figure_text(figure) for figure in (check.before, check.after, check.difference)]
        name = _measure_name(check.property)
        rows.append([name, check.variable, *figures, percent_text(check.relative), result_text(check)])
    if rows:
        header = [*labels(_HEAD, "property", "variable"), *_sides(), *labels(_HEAD, "difference", "relative", "result")]
        print_table(messages.text("evaluation.section.properties"), header, rows, right=(2, 3, 4, 5))


def _show_contrast(report: EvaluationReport) -> None:
    rows = []
    for contrast in report.contrast:
        label = messages.text(f"dictionary.mel_label.{contrast.label}") if contrast.label else "–"
        result = messages.text("evaluation.result.equal" if contrast.equal else "evaluation.result.differs")
        rows.append([contrast.variable, label, result])
    if rows:
        print_table(messages.text("evaluation.section.contrast"), labels(_HEAD, "variable", "label", "result"), rows)


def _show_variables(report: EvaluationReport) -> None:
    from celosia.dossier.evaluation import figure_text, percent_text

    distances = {distance.variable: distance for distance in report.distances}
    names = ("total_variation", "hellinger", "kolmogorov_smirnov", "earth_mover")
    header = labels(_HEAD, "variable", "loss", "masked", "changed")
    header += [_measure_name(name) for name in names]
    rows = []
    for loss in report.loss.variables:
        distance = distances.get(loss.variable)
        row = [loss.variable, messages.percent(loss.loss), messages.integer(loss.masked_cells)]
        figures = [figure_text(getattr(distance, name) if distance else None) for name in names]
        rows.append([*row, percent_text(loss.changed_share), *figures])
    print_table(messages.text("evaluation.section.loss"), header, rows, right=tuple(range(1, 8)))


def _show_numeric(report: EvaluationReport) -> None:
    from celosia.dossier.evaluation import figure_text

    figures: dict[str, float | None] = dict(report.loss.search)
    if report.numeric is not None:
        names = ("il1s", "il1s_per_cell", "squared_error_share", "eigenvalues", "within_reach")
        figures |= {name: getattr(report.numeric, name) for name in names}
    rows = [[_measure_name(name), figure_text(value)] for name, value in figures.items()]
    if rows:
        title = "evaluation.section.numeric" if report.numeric is not None else "evaluation.section.search"
        print_table(messages.text(title), labels(_HEAD, "measure", "value"), rows, right=(1,))


def _show_risk(report: EvaluationReport) -> None:
    from celosia.dossier.evaluation import figure_text

    if report.risk is None:
        return
    # The key of the text of each figure, where it is not the figure's own name.
    keys = {"unique_rows": "unique", "largest_risk": "largest", "masked_rows": "suppressed"}
    rows = []
    for name in "k k_persons classes unique_rows at_risk largest_risk masked_rows".split():
        pair = getattr(report.risk.before, name), getattr(report.risk.after, name)
        if pair != (None, None):
            label = messages.text(f"evaluation.risk.{keys.get(name, name)}")
            rows.append([label, *(figure_text(value) for value in pair)])
    threshold = threshold_text(report.risk.threshold)
    title = messages.text("evaluation.risk.quasi", names=", ".join(report.risk.quasi), threshold=threshold)
    print_table(title, [*labels(_HEAD, "measure"), *_sides()], rows, right=(1, 2))


def _sides() -> list[str]:
    return labels("evaluation", "before", "after")


def _measure_name(measure: str) -> str:
    return messages.text(f"evaluation.measure.{measure}.name")
