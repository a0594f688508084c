"""ATENEA's documents: request, exploratory analysis, risk report, techniques, evaluation, in the guide's own layout.

Knows reports and the request. Ignores files. Every document is internal: it speaks of the base before anonymising.
Source: Agencia ATENEA, Guía para la Anonimización de Datos Estructurados G3_DE, 4.2.1 to 4.2.5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from celosia import messages
from celosia.dossier.document import (
    Block,
    Cell,
    Checks,
    Document,
    Fields,
    Heading,
    Items,
    Note,
    Paragraph,
    Table,
    table_of,
)
from celosia.dossier.evaluation import figure_text, percent_text, residual_risk, result_text
from celosia.dossier.figures import variable_title
from celosia.dossier.technique import Done, search_sentences, technique_name
from celosia.model.reports.closing import ClosingReport
from celosia.model.reports.evaluation import PropertyCheck
from celosia.model.reports.profile import NumberSummary, ProfileReport, VariableProfile
from celosia.model.reports.scenarios import (
    FrequencyTable,
    Scenario,
    ScenarioReport,
    ScenarioRisk,
    indicator_tenths,
    largest_at_risk,
    threshold_text,
)
from celosia.model.requests import Request
from celosia.model.variables import Variable


@dataclass(frozen=True, slots=True)
class EliminatedVariable:
    """A variable of the base of which nothing is delivered, and why."""

    variable: Variable
    reason: str  # identifier, limited, free_text, treatment, step, purpose


PERTURBING = ("microaggregate", "noise", "swap", "rank_swap", "swap_households", "round", "pram", "shuffle")
_LINES = 60  # rows of a frequency table in a printed report
_QUANTILES = (("first", "0.25"), ("median", "0.5"), ("third", "0.75"))


def _word(key: str, **fields: object) -> str:
    return messages.text(f"atenea.{key}", **fields)


def _document(part: str, section: str, blocks: Iterator[Block]) -> Document:
    return Document(
        title=_word(f"{part}.title"),
        subtitle=_word("guide", section=section),
        language=messages.language(),
        blocks=tuple(blocks),
        mark=_word("internal_mark"),
    )


# --- 4.2.1: the request ---------------------------------------------------------------------------


def request_document(request: Request, variables: Sequence[Variable], language: str = "es") -> Document:
    """The six items and the two legal questions (A01, A02)."""
    with messages.speaking(language):
        return _document("request", "4.2.1", _request_blocks(request, variables))


def _request_blocks(request: Request, variables: Sequence[Variable]) -> Iterator[Block]:
    yield Heading(_word("request.needs"))
    kind = _word(f"request.{request.kind}") if request.kind in ("internal", "external") else ""
    given = [(_word(f"request.{key}"), str(request.item(key))) for key in ("requester", "official", "received")]
    yield Fields(((_word("request.kind"), kind), *given))
    yield Heading(_word("request.variables"), 2)
    yield _requested_variables(request, variables)
    yield Fields(((_word("request.aggregation"), request.aggregation),))
    yield Heading(_word("request.properties"), 2)
    chosen = tuple(_property(wanted) for wanted in request.properties)
    yield Items(chosen) if chosen else Paragraph(_word("none"))
    yield Fields(((_word("request.authorisation"), request.authorisation), (_word("request.use"), request.use)))
    yield Heading(_word("request.restrictions"))
    questions = ("protected_by_law", "subject_authorisation")
    yield Checks(tuple((_word(f"request.{key}"), _yes_or_no(request.legal.get(key))) for key in questions))
    limits = ", ".join(request.limited)
    yield Fields(((_word("request.limited"), limits or _word("request.no_limits")),))


def _requested_variables(request: Request, variables: Sequence[Variable]) -> Table:
    """Each variable asked for, and what it is: sensitive, identifying, indirectly identifying."""
    known = {variable.name: variable for variable in variables}
    header = [_word(f"request.{key}") for key in ("variable", "description", "class", "special")]
    lines = [known.get(name, Variable(name)) for name in request.variables]
    rows: list[tuple[Cell, ...]] = [(v.name, v.label, class_word(v), v.special) for v in lines]
    return table_of(header, rows, (1.4, 2.2, 1.4, 1.0))


def class_word(variable: Variable) -> str:
    """ATENEA's word for what a variable is (A09)."""
    return _word(f"class.{variable.role.value if variable.role else 'unknown'}")


def _yes_or_no(given: object) -> bool | None:
    return given if isinstance(given, bool) else None


def _property(asked: Mapping[str, Any]) -> str:
    name = _word(f"property.{asked['property']}")
    if asked.get("tolerance") not in (None, ""):
        name = _word("request.tolerance", property=name, tolerance=str(asked["tolerance"]))
    named = ", ".join(asked.get("variables", ()))
    return (
        _word("request.property", property=name, variables=named)
        if named
        else _word("request.property_all", property=name)
    )


# --- 4.2.2: exploratory analysis ------------------------------------------------------------------


def profile_document(profile: ProfileReport, language: str = "es") -> Document:
    """Dimensions, kinds, descriptive measures and frequencies (A04–A08)."""
    with messages.speaking(language):
        return _document("profile", "4.2.2", _profile_blocks(profile))


def _profile_blocks(profile: ProfileReport) -> Iterator[Block]:
    yield Heading(_word("profile.characterisation"))
    yield Fields(
        (
            (_word("profile.source"), profile.source),
            (_word("profile.records"), messages.integer(profile.rows)),
            (_word("profile.variables"), messages.integer(profile.columns)),
        )
    )
    yield Heading(_word("profile.types"), 2)
    yield _types(profile.variables)
    yield Heading(_word("profile.numbers"), 2)
    numbers = [(variable.name, variable.numbers) for variable in profile.variables if variable.numbers is not None]
    yield _numbers(numbers) if numbers else Paragraph(_word("profile.no_numbers"))
    yield Heading(_word("profile.frequencies"))
    for variable in profile.variables:
        if variable.categories and variable.scale == "categorical":
            yield Heading(variable_title(variable), 2)
            yield _frequencies(variable, profile.rows)
    veiled = [variable.name for variable in profile.variables if variable.veiled]
    if veiled:
        yield Note(_word("profile.veiled", names=", ".join(veiled)))


def _types(variables: Sequence[VariableProfile]) -> Table:
    header = [_word(f"profile.{key}") for key in ("variable", "scale", "kind", "distinct", "missing")]
    rows = [
        (
            variable_title(variable),
            _dictionary_word("scale", variable.scale),
            _dictionary_word("kind", variable.kind),
            messages.integer(variable.distinct),
            messages.integer(variable.missing),
        )
        for variable in variables
    ]
    return Table(tuple(header), tuple(rows), (2.4, 1.2, 1.3, 1.0, 1.0), right=(3, 4))


def _dictionary_word(group: str, value: str) -> str:
    return messages.text(f"dictionary.{group}.{value}") if value else _word("dash")


def _numbers(summaries: Sequence[tuple[str, NumberSummary]]) -> Table:
    keys = ("variable", "count", "total", "mean", "minimum", "first", "median", "third", "maximum")
    rows = tuple(_number_row(name, numbers) for name, numbers in summaries)
    return Table(tuple(_word(f"profile.{key}") for key in keys), rows, (1.8, *([1.0] * 8)), tuple(range(1, 9)))


def _number_row(name: str, numbers: NumberSummary) -> tuple[str, ...]:
    quantiles = [numbers.quantiles[key] for _, key in _QUANTILES]
    figures = [numbers.total, numbers.mean, numbers.minimum, *quantiles, numbers.maximum]
    return (name, messages.integer(numbers.count), *map(figure_text, figures))


def _frequencies(variable: VariableProfile, total: int) -> Table:
    """Absolute and relative frequencies; missing apart; together they are everything (A08)."""
    lines = [(category.value, category.rows) for category in variable.categories]
    lines += [(_word("profile.others"), variable.other_rows)] if variable.other_rows else []
    lines += [(_word("profile.lost"), variable.missing)] if variable.missing else []
    header = tuple(_word(f"profile.{key}") for key in ("category", "absolute", "relative"))
    rows = tuple((text, messages.integer(rows), messages.percent(rows / total if total else 0)) for text, rows in lines)
    return Table(header, rows, (2.0, 1.0, 1.0), right=(1, 2))


# --- 4.2.3: the risk report -----------------------------------------------------------------------


def risk_document(report: ScenarioReport, language: str = "es") -> Document:
    """The guide's table, its five columns in its order, largest share first (A18); tables of frequencies if asked."""
    with messages.speaking(language):
        return _document("risk", "4.2.3", _risk_blocks(report))


def _risk_blocks(report: ScenarioReport) -> Iterator[Block]:
    yield Paragraph(_word(f"risk.unit_{report.unit}", units=report.units, rows=report.rows))
    yield _risks(report) if report.scenarios else Paragraph(_word("risk.none"))
    yield Note(_word("risk.reading"))
    for order, risk in enumerate(report.scenarios, start=1):
        if risk.table is not None:
            yield Heading(_word("risk.table", order=order), 2)
            yield from _frequency_table(risk.table)


def _risks(report: ScenarioReport) -> Table:
    header = tuple(_word(f"risk.{key}") for key in ("order", "variables", "criterion", "at_risk", "share"))
    rows = tuple(_risk_row(order, risk) for order, risk in enumerate(report.scenarios, start=1))
    return Table(header, rows, (0.8, 2.2, 2.2, 1.2, 1.2), right=(3, 4))


def _risk_row(order: int, risk: ScenarioRisk) -> tuple[str, ...]:
    scenario = risk.scenario
    figures = (messages.integer(risk.at_risk), messages.percent(risk.share))
    return (
        _word("risk.risk", order=order),
        _scenario_variables(scenario),
        criterion_words(scenario.threshold),
        *figures,
    )


def _scenario_variables(scenario: Scenario) -> str:
    return ", ".join(
        _word("risk.level", variable=name, level=level) if level else name for name, level in scenario.columns
    )


def criterion_words(threshold: Fraction) -> str:
    """A criterion as the guide writes it, and what it means in whole numbers."""
    largest = largest_at_risk(threshold)
    return _word("risk.rule_one" if largest == 1 else "risk.rule", threshold=threshold_text(threshold), largest=largest)


def _frequency_table(table: FrequencyTable) -> Iterator[Block]:
    header = (_word("risk.line"), *table.variables, _word("risk.frequency"), _word("risk.indicator"))
    shown = table.lines[:_LINES]
    rows = tuple(
        (
            str(number),
            *line.values,
            messages.integer(line.frequency),
            messages.decimal(indicator_tenths(line.frequency) / 10, 1),
        )
        for number, line in enumerate(shown, start=1)
    )
    last = len(header) - 1
    yield Table(header, rows, right=(0, last - 1, last))
    if len(shown) < table.cells:
        yield Note(_word("risk.cut", lines=len(shown), cells=table.cells))


# --- 4.2.4: techniques ----------------------------------------------------------------------------


def techniques_document(
    changes: Sequence[Mapping[str, Any]] | None,
    done: Done | None,
    seed: str = "none",
    language: str = "es",
    eliminated: Sequence[EliminatedVariable] = (),
) -> Document:
    """What was applied, step by step, by the guide's two families of methods; None while nothing was."""
    with messages.speaking(language):
        return _document("techniques", "4.2.4", _technique_blocks(changes, done, seed, eliminated))


def _technique_blocks(
    changes: Sequence[Mapping[str, Any]] | None,
    done: Done | None,
    seed: str,
    eliminated: Sequence[EliminatedVariable],
) -> Iterator[Block]:
    if changes is None:
        yield Paragraph(_word("techniques.none"))
        return
    yield Heading(_word("techniques.eliminated"))
    yield _eliminated_table(eliminated) if eliminated else Paragraph(_word("techniques.none_eliminated"))
    yield Heading(_word("techniques.applied"))
    yield _steps(changes) if changes else Paragraph(_word("techniques.no_steps"))
    if done is not None:
        yield Heading(_word("techniques.search"))
        yield Items(tuple(search_sentences(done)))
    yield Fields(((_word("techniques.seed"), _word(f"techniques.seed_{seed}")),))


def _eliminated_table(eliminated: Sequence[EliminatedVariable]) -> Table:
    """Elimination of variables is a method of the guide, and its first: each with its class and why it left (A23)."""
    header = [_word(f"techniques.{key}") for key in ("variable", "description", "class", "reason")]
    rows: list[tuple[Cell, ...]] = [
        (
            each.variable.name,
            each.variable.label,
            class_word(each.variable),
            _word(f"techniques.because.{each.reason}"),
        )
        for each in eliminated
    ]
    return table_of(header, rows, (1.4, 2.2, 1.4, 1.8))


def _steps(changes: Sequence[Mapping[str, Any]]) -> Table:
    keys = ("order", "method", "technique", "variables", "rows", "share")
    rows = tuple(_step_row(number, change) for number, change in enumerate(changes, start=1))
    return Table(tuple(_word(f"techniques.{key}") for key in keys), rows, (0.6, 1.4, 1.8, 1.8, 0.9, 0.9), (0, 4, 5))


def _step_row(number: int, change: Mapping[str, Any]) -> tuple[str, ...]:
    technique = str(change["technique"])
    family = "perturbation" if technique in PERTURBING else "reduction"
    names = ", ".join((*change["columns"], *change["removed"]))
    touched = int(change["rows_dropped"]) or (int(change["rows"]) if change["removed"] else int(change["rows_touched"]))
    share = touched / int(change["rows"]) if change["rows"] else 0.0
    figures = (messages.integer(touched), messages.percent(share))
    return (str(number), _word(f"techniques.{family}"), technique_name(technique), names, *figures)


# --- 4.2.5: evaluation ----------------------------------------------------------------------------


def evaluation_document(closing: ClosingReport | None, limited: Sequence[str] = (), language: str = "es") -> Document:
    """The guide's three checks, and the risk that stays, which is never none (A28–A31); None: nothing to evaluate."""
    with messages.speaking(language):
        return _document("evaluation", "4.2.5", _evaluation_blocks(closing, limited))


def _evaluation_blocks(closing: ClosingReport | None, limited: Sequence[str]) -> Iterator[Block]:
    if closing is None:
        yield Paragraph(_word("evaluation.none"))
        return
    yield Heading(_word("evaluation.risks"))
    if closing.risk is not None and closing.risk.scenarios:
        yield _risk_changes(closing.risk.scenarios)
    yield Paragraph(residual_risk(closing.risk))
    yield Heading(_word("evaluation.properties"))
    yield _properties(closing.properties) if closing.properties else Paragraph(_word("evaluation.no_properties"))
    yield Heading(_word("evaluation.restrictions"))
    yield Paragraph(_restrictions(limited, closing.limited))


def _risk_changes(scenarios: Sequence[tuple[str, float, float]]) -> Table:
    header = tuple(_word(f"evaluation.{key}") for key in ("variables", "share_before", "share_after", "result"))
    rows = tuple(
        (names, messages.percent(before), messages.percent(after), _word(f"evaluation.{_risk_change(before, after)}"))
        for names, before, after in scenarios
    )
    return Table(header, rows, (2.4, 1.0, 1.0, 1.0), right=(1, 2))


def _risk_change(before: float, after: float) -> str:
    if before == 0 and after == 0:
        return "never"
    return "removed" if after == 0 else "reduced" if after < before else "stays"


def _properties(checks: Sequence[PropertyCheck]) -> Table:
    keys = ("property", "variable", "before", "after", "difference", "relative", "tolerance", "result")
    header = tuple(_word(f"evaluation.{key}") for key in keys)
    return Table(header, tuple(map(_property_row, checks)), (1.3, 1.3, 1, 1, 1, 1, 0.9, 1.3), (2, 3, 4, 5, 6))


def _property_row(check: PropertyCheck) -> tuple[str, ...]:
    figures = (figure_text(check.before), figure_text(check.after), figure_text(check.difference))
    shares = (percent_text(check.relative), percent_text(check.tolerance))
    return (_property_name(check.property), check.variable or _word("dash"), *figures, *shares, result_text(check))


def _property_name(identifier: str) -> str:
    key = f"evaluation.measure.{identifier}.name"
    return messages.text(key) if messages.has(key) else identifier


def _restrictions(limited: Sequence[str], broken: Sequence[str]) -> str:
    if broken:
        return _word("evaluation.broken", names=", ".join(broken))
    if limited:
        return _word("evaluation.respected_named", names=", ".join(limited))
    return _word("evaluation.respected")
