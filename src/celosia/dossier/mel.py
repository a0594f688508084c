"""MEL's documents: the annotated dictionary, as a document and as rows of a workbook, and the contrast report.

Knows the judged dictionary, the figures shown to whoever approves, and the contrast. Ignores files. Both are internal.
Source: MEL protocol IV.2 (two added columns) and IV.3 (review and descriptive statistics).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from celosia import messages
from celosia.dossier.document import (
    Block,
    Document,
    Heading,
    Items,
    Note,
    Paragraph,
    Signatures,
    Signer,
    Table,
)
from celosia.dossier.evaluation import figure_text
from celosia.model.people import Approval
from celosia.model.reports.evaluation import ContrastLine
from celosia.model.reports.mel import AnnotatedDictionary, AnnotatedLine, ContrastReport, Fault, FrequencyPair

STATISTICS = ("mean", "variance", "minimum", "maximum", "median")  # in the protocol's order
_SHEET = (
    "variable",
    "description",
    "label",
    "treatment",
    "areas",
    "smallest",
    "missing",
    "options",
    "exception",
    "faults",
)


def _word(key: str, **fields: object) -> str:
    return messages.text(f"mel.{key}", **fields)


# --- the annotated dictionary ---------------------------------------------------------------------


def annotated_rows(annotated: AnnotatedDictionary) -> list[list[str]]:
    """The dictionary with its two added columns and what they rest on: a header, then a row per variable."""
    return [[_word(f"dictionary.sheet_{key}") for key in _SHEET], *[_sheet_row(line) for line in annotated.lines]]


def _sheet_row(line: AnnotatedLine) -> list[str]:
    areas = line.areas
    counts = ["", "", ""] if areas is None else [_count(areas.areas), _count(areas.smallest), _count(areas.missing)]
    options = ", ".join(_word(f"treatment.{option}") for option in line.options)
    faults = " ".join(fault_sentence(line, fault) for fault in line.faults)
    return [
        line.variable,
        line.description,
        label_word(line.label),
        _treatment_text(line),
        *counts,
        options,
        line.exception,
        faults,
    ]


def _count(number: int | None) -> str:
    return _word("none") if number is None else messages.integer(number)


def label_word(label: str) -> str:
    """MEL's label in words."""
    return messages.text(f"dictionary.mel_label.{label}") if label else ""


def _treatment_text(line: AnnotatedLine) -> str:
    return _word(f"treatment.{line.treatment}") if line.treatment else ""


def fault_sentence(line: AnnotatedLine, fault: Fault) -> str:
    """What is wrong with a line, and the way out; a larger division is offered where one passes (X16)."""
    areas = line.areas
    fields: dict[str, Any] = {"variable": line.variable, "smallest": areas.smallest or 0 if areas else 0}
    if fault is Fault.AREA_STAYS and areas and areas.finest is not None:
        return _word("fault.area_stays_recode", level=areas.finest, **fields)
    return _word(f"fault.{fault.value}", **fields)


def annotated_document(
    annotated: AnnotatedDictionary,
    figures: Mapping[str, Any] | None = None,
    approvals: Sequence[Approval] = (),
    language: str = "es",
) -> Document:
    """What goes to the lead: every variable, the exceptions, the risk that stays, and the place to validate."""
    with messages.speaking(language):
        return Document(
            title=messages.text("protocols.document.mel_dictionary"),
            subtitle=_word("dictionary.subtitle"),
            language=messages.language(),
            blocks=tuple(_annotated_blocks(annotated, figures, approvals)),
            mark=_word("internal_mark"),
        )


def _annotated_blocks(
    annotated: AnnotatedDictionary, figures: Mapping[str, Any] | None, approvals: Sequence[Approval]
) -> Iterator[Block]:
    total, stay = len(annotated.lines), len(annotated.kept_variables)
    yield Paragraph(_word("dictionary.counts", variables=total, stay=stay, go=total - stay))
    unit = _word(f"unit.{annotated.unit.value}", variable=annotated.unit_variable or "")
    yield Paragraph(_word("dictionary.unit", unit=unit, minimum=annotated.minimum))
    yield _lines(annotated)
    faults = tuple(fault_sentence(line, fault) for line in annotated.lines for fault in line.faults)
    if faults:
        yield Heading(_word("dictionary.sheet_faults"))
        yield Items(faults)
    yield Heading(_word("dictionary.exceptions"))
    reasons = tuple(f"{name}: {reason}" for name, reason in annotated.exceptions.items())
    yield Items(reasons) if reasons else Paragraph(_word("dictionary.no_exceptions"))
    if figures is not None:
        yield Heading(_word("dictionary.risk"))
        yield Note(residual_sentence(figures))
    yield Heading(_word("dictionary.approval"))
    yield Signatures(_signers(approvals))


def _lines(annotated: AnnotatedDictionary) -> Table:
    keys = ("variable", "description", "label", "treatment", "smallest")
    header = tuple(_word(f"dictionary.sheet_{key}") for key in keys)
    rows = tuple(
        (
            line.variable,
            line.description,
            label_word(line.label),
            _treatment_text(line),
            _count(line.areas.smallest) if line.areas else "",
        )
        for line in annotated.lines
    )
    return Table(header, rows, (1.4, 2.0, 1.6, 1.2, 1.0), right=(4,))


def _signers(approvals: Sequence[Approval]) -> tuple[Signer, ...]:
    signed = tuple(
        Signer(messages.text(f"protocols.role.{approval.role}"), approval.name, approval.when[:10], approval.signature)
        for approval in approvals
    )
    return signed or (Signer(messages.text("protocols.role.lead")),)


def residual_sentence(figures: Mapping[str, Any]) -> str:
    """k and RI over the indirect identifiers that stay, as they are shown before they are signed (X18)."""
    if figures["k"] is None:
        return _word("dictionary.figure_none")
    threshold = messages.decimal(float(figures["threshold"]), 1)
    unit = messages.text(f"explain.unit.{figures['unit']}")
    return _word(
        "dictionary.figure",
        variables=", ".join(figures["variables"]),
        k=figures["k"],
        unit=unit,
        threshold=threshold,
        at_risk=figures["at_risk"],
        units=figures["units"],
        share=messages.percent(float(figures["share"])),
    )


# --- contrast -------------------------------------------------------------------------------------


def contrast_document(report: ContrastReport, language: str = "es") -> Document:
    """Both bases: observations, the statistics of the chosen variables, the result."""
    with messages.speaking(language):
        return Document(
            title=messages.text("protocols.document.mel_contrast"),
            subtitle=_word("contrast.subtitle"),
            language=messages.language(),
            blocks=tuple(_contrast_blocks(report)),
            mark=_word("internal_mark"),
        )


def _contrast_blocks(report: ContrastReport) -> Iterator[Block]:
    yield Heading(_word("contrast.review"))
    yield Paragraph(_word("contrast.rows", before=report.rows_before, after=report.rows_after))
    same = report.rows_before == report.rows_after
    yield Paragraph(_word("contrast.rows_equal" if same else "contrast.rows_differ"))
    yield Heading(_word("contrast.statistics"))
    continuous = [line for line in report.lines if line.scale == "continuous"]
    categorical = [line for line in report.lines if line.scale != "continuous"]
    if continuous:
        yield Heading(_word("contrast.continuous"), 2)
        yield _continuous(continuous)
    if categorical:
        yield Heading(_word("contrast.categorical"), 2)
        yield _categorical(categorical)
    for name, pairs in report.frequencies.items():
        yield Heading(_word("contrast.frequencies", variable=name), 2)
        yield _frequencies(pairs)
    yield Heading(_word("contrast.result"))
    yield from _result(report)


def _continuous(lines: Sequence[ContrastLine]) -> Table:
    keys = ("variable", "label", "statistic", "before", "after", "equal")
    rows = tuple(
        (
            line.variable,
            label_word(line.label),
            _word(f"contrast.{key}"),
            *_both_figures(line, key),
            _equality_word(line.equal),
        )
        for line in lines
        for key in STATISTICS
    )
    return Table(tuple(_word(f"contrast.{key}") for key in keys), rows, (1.4, 1.4, 1.2, 1.2, 1.2, 0.7), right=(3, 4))


def _equality_word(equal: bool) -> str:
    return _word("contrast.same" if equal else "contrast.different")


def _both_figures(line: ContrastLine, key: str) -> tuple[str, str]:
    before, after = line.statistics[key]
    return figure_text(before), figure_text(after)


def _categorical(lines: Sequence[ContrastLine]) -> Table:
    keys = ("variable", "label", "before", "after", "equal")
    header = [_word(f"contrast.{key}") for key in keys]
    header[2:4] = [f"{_word('contrast.categories')}: {column.lower()}" for column in header[2:4]]
    rows = tuple(
        (line.variable, label_word(line.label), *_both_figures(line, "categories"), _equality_word(line.equal))
        for line in lines
    )
    return Table(tuple(header), rows, (1.6, 1.6, 1.2, 1.2, 0.8), right=(2, 3))


def _frequencies(pairs: Sequence[FrequencyPair]) -> Table:
    header = tuple(_word(f"contrast.{key}") for key in ("category", "before", "after", "equal"))
    rows = tuple(
        (
            pair.value or _word("rest"),
            messages.integer(pair.before),
            messages.integer(pair.after),
            _equality_word(pair.before == pair.after),
        )
        for pair in pairs
    )
    return Table(header, rows, (2.2, 1.2, 1.2, 0.8), right=(1, 2))


def _result(report: ContrastReport) -> Iterator[Block]:
    differing = [line.variable for line in report.lines if not line.equal]
    if differing:
        yield Note(_word("contrast.fails", names=", ".join(differing)))
    else:
        yield Note(_word("contrast.holds", count=len(report.lines)))
    if report.removed:
        yield Paragraph(_word("contrast.removed", names=", ".join(report.removed)))
    if report.changed:
        yield Paragraph(_word("contrast.changed", names=", ".join(report.changed)))
    yield Paragraph(_word("contrast.unchanged"))
