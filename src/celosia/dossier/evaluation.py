"""The evaluation in words, and as a page: losses, properties, distances, risk before and after, pictures, definitions.

Knows a report. The residual risk is always said with its figure; no sentence says that there is none (ATENEA 4.2.5).
"""

from __future__ import annotations

from markupsafe import Markup

from celosia import messages
from celosia.dossier.charts import pictures
from celosia.dossier.page import render
from celosia.model.reports.evaluation import EvaluationReport, PropertyCheck, RiskComparison
from celosia.model.reports.scenarios import threshold_text

_ALWAYS = ("entropy_loss", "suppressed_share", "masked_rows", "masked_cells", "observations")
_DISTANCES = ("total_variation", "hellinger", "kolmogorov_smirnov", "earth_mover")
_LINKED = ("changed_share", "il1s", "il1s_per_cell", "squared_error_share", "eigenvalues", "within_reach")
_CHANCE = 3.0  # two samples of one population are about twice the expected value apart
_APART = 10.0  # pMSE this many times chance: a model tells the files apart


def evaluation_page(report: EvaluationReport) -> str:
    """The evaluation as one self-contained HTML page."""
    drawn = {name: Markup(svg) for name, svg in pictures(report).items()}
    return render(
        "evaluation.html.j2",
        report=report,
        sentences=evaluation_sentences(report),
        residual=residual_risk(report.risk),
        figure=figure_text,
        result=result_text,
        percent_of=percent_text,
        charts=drawn,
        definitions=definitions(report),
    )


def evaluation_sentences(report: EvaluationReport) -> list[str]:
    """The report in a few sentences: observations, what left, how much was lost."""
    loss = report.loss
    equal = "evaluation.observations.equal" if report.equal_rows else "evaluation.observations.differ"
    sentences = [messages.text(equal, before=report.before.rows, after=report.after.rows)]
    if report.removed:
        sentences.append(messages.text("evaluation.removed", names=", ".join(report.removed)))
    if report.added:
        sentences.append(messages.text("evaluation.added", names=", ".join(report.added)))
    if report.weights:
        sentences.append(messages.text("evaluation.weights", name=report.weights))
    sentences.append(_masked_sentence(report))
    sentences.append(messages.text("evaluation.lost", loss=messages.percent(loss.loss)))
    if report.key:
        sentences.append(messages.text("evaluation.level.records", name=report.key, rows=loss.linked_rows or 0))
    elif loss.level == "records":
        sentences.append(messages.text("evaluation.level.position", rows=loss.linked_rows or 0))
    else:
        sentences.append(messages.text("evaluation.level.distributions"))
    return sentences + _model_sentences(report)


def _masked_sentence(report: EvaluationReport) -> str:
    loss = report.loss
    return messages.text(
        "evaluation.suppressed",
        rows=loss.suppressed_rows,
        share=messages.part(loss.suppressed_share),
        dropped=loss.dropped_rows,
        starred=loss.suppressed_rows - loss.dropped_rows,
        masked=loss.masked_rows,
        masked_share=messages.part(loss.masked_rows_share),
        cells=loss.masked_cells,
        cells_share=messages.part(loss.masked_cells_share),
    )


def _model_sentences(report: EvaluationReport) -> list[str]:
    sentences = []
    if report.association is not None:
        largest, mean = (figure_text(part) for part in (report.association.largest, report.association.mean))
        sentences.append(messages.text("evaluation.association.words", largest=largest, mean=mean))
    if report.propensity is not None:
        score = report.propensity
        ratio = score.ratio or 0.0
        fields = {"pmse": figure_text(score.pmse), "expected": figure_text(score.expected)}
        words = messages.text("evaluation.propensity.words", ratio=figure_text(score.ratio), **fields)
        released = report.after.rows / max(report.before.rows + report.after.rows, 1)
        certain = score.pmse >= released * (1 - released) / 2  # half of what a perfect guess would give
        state = "apart" if ratio >= _APART or certain else "same" if ratio <= _CHANCE else "some"
        sentences.append(f"{words} {messages.text(f'evaluation.propensity.{state}')}")
    return sentences


def residual_risk(risk: RiskComparison | None) -> str:
    """What risk is left, with its figure, and that no technique is absolute."""
    if risk is None:
        return f"{messages.text('evaluation.residual.unmeasured')} {messages.text('evaluation.residual.always')}"
    before, after = risk.before, risk.after
    persons = after.persons is not None
    unit = messages.text("evaluation.unit.persons" if persons else "evaluation.unit.rows")
    units = after.persons if after.persons is not None else after.rows
    shown = threshold_text(risk.threshold)
    past = {"before": before.at_risk, "before_share": messages.part(before.at_risk_share)}
    if after.largest_risk is None:
        first = messages.text("evaluation.residual.masked", units=units, unit=unit, **past)
    elif after.at_risk:
        share, largest = messages.part(after.at_risk_share), _small(after.largest_risk)
        first = messages.text(
            "evaluation.residual.some",
            at_risk=after.at_risk,
            units=units,
            unit=unit,
            share=share,
            threshold=shown,
            largest=largest,
            **past,
        )
    else:
        largest = _small(after.largest_risk)
        first = messages.text(
            "evaluation.residual.none", units=units, unit=unit, threshold=shown, largest=largest, **past
        )
    return f"{first} {messages.text('evaluation.residual.always')}"


def _small(risk: float) -> str:
    """A risk with four decimals; a small one never reads as none."""
    return f"< {messages.decimal(0.0001, 4)}" if 0 < risk < 0.00005 else messages.decimal(risk, 4)


def definitions(report: EvaluationReport) -> list[tuple[str, ...]]:
    """(id, name, definition, source) of every measure in the report, in its order."""
    ids = [*_ALWAYS, *dict.fromkeys(check.property for check in report.properties), *report.loss.search]
    ids += ["contrast"] if report.contrast else []
    ids += _DISTANCES if report.distances else ()
    ids += ["association"] if report.association else []
    ids += ["pmse", "pmse_ratio"] if report.propensity else []
    ids += _LINKED if report.loss.level == "records" else ()
    ids += ["at_risk"] if report.risk else []
    parts = ("name", "definition", "source")
    return [(measure, *(messages.text(f"evaluation.measure.{measure}.{part}") for part in parts)) for measure in ids]


def figure_text(value: float | None) -> str:
    """A figure with the digits that its size deserves."""
    if value is None:
        return "–"
    if value == int(value) and abs(value) < 1e15:
        return messages.integer(int(value))
    size = abs(value)
    if size < 1e-4:
        mantissa, _, power = f"{value:.2e}".partition("e")
        return f"{messages.decimal(float(mantissa), 2)}·10^{int(power)}"
    return messages.decimal(value, 2 if size >= 100 else 4)


def percent_text(share: float | None) -> str:
    """A share as a percentage; a dash where there is none."""
    return "–" if share is None else messages.percent(share)


def result_text(check: PropertyCheck) -> str:
    """Whether a property was kept, and why not."""
    result = messages.text("evaluation.result.pass" if check.passes else "evaluation.result.fail")
    return f"{result} ({messages.text(f'evaluation.note.{check.note}')})" if check.note else result
