"""The approval sheet: what a person signs, on one paper, before signing it.

Knows the plan, what was measured on the written file, and a few rows as they are published, handed over as texts.
Ignores who signs and when: the same state of a project gives the same sheet, so that its digest can be signed.
Sources: MINSAL Verificación 4 and Anexo I; MEL IV.2 and IV.4; ATENEA G3_DE 4.2.5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from celosia import messages
from celosia.dossier.document import Block, Cell, Document, Fields, Heading, Items, Note, Paragraph, table_of
from celosia.dossier.figures import count_text, criterion_text, metric_text, suppression_sentences, variable_title
from celosia.dossier.minsal import Attempts, Override, attempts_sentence, override_sentence
from celosia.dossier.reports import RuleLine, group_sentences, risk_sentences, value_sentences
from celosia.dossier.signed import signed_lines
from celosia.dossier.technique import Done, level_words, loss_words, lost_key, quoted_names, technique_name
from celosia.model.people import Approval
from celosia.model.plan import Plan
from celosia.model.variables import Role, Variable
from celosia.model.verdict import CheckReport, State

_LOCAL = ("local", "recipe", "cells")  # methods that give each record its own detail


@dataclass(frozen=True, slots=True)
class FrontierLine:
    """A point of the frontier near the plan's own."""

    k: int
    limit: float
    feasible: bool
    loss: float | None
    suppressed_rows: int
    suppressed_share: float
    proved: bool
    own: bool = False  # whether it is the k and the limit of the plan


@dataclass(frozen=True, slots=True)
class SheetFacts:
    """All that the sheet shows; what was not measured yet is None or empty, and is said to be so."""

    what: str  # plan, candidate, residual, release
    title: str
    project: str
    plan: Plan
    protocols: tuple[str, ...] = ()  # titles
    variables: tuple[Variable, ...] = ()  # published ones, under the names they are published with
    withheld: tuple[str, ...] = ()
    check: CheckReport | None = None
    done: Done | None = None
    persons: bool = False  # whether the project knows persons, so that k counts them
    masked: Mapping[str, int] = field(default_factory=dict)  # rows of the file without a value, by sensitive variable
    distinct: Mapping[str, int | None] = field(default_factory=dict)  # least distinct values, measured on the file
    sample: tuple[tuple[str, ...], ...] = ()  # rows of the file, in the order of plan.published
    sample_least: int = 2  # each of them is of a combination that so many rows share
    frontier: tuple[FrontierLine, ...] = ()
    residual: Mapping[str, Any] = field(default_factory=dict)
    attempts: Attempts | None = None
    findings: tuple[str, ...] | None = None  # sentences of the automatic intruder; None where it was not run
    rules: tuple[RuleLine, ...] = ()
    overrides: tuple[Override, ...] = ()
    approvals: tuple[Approval, ...] = ()


def approval_sheet(facts: SheetFacts, language: str = "es") -> Document:
    """The whole sheet in a language."""
    with messages.speaking(language):
        parts = (
            _subject_blocks,
            _levels,
            _records,
            _criteria,
            _sample,
            _frontier,
            _risk,
            _intruder,
            _rules,
            _approvals,
        )
        return Document(
            title=_word("title", what=messages.text(f"people.what.{facts.what}")),
            subtitle=facts.title,
            language=messages.language(),
            blocks=tuple(block for part in parts for block in part(facts)),
            mark=messages.text("documents.internal_mark"),
        )


def _word(key: str, **fields: object) -> str:
    return messages.text(f"approval_sheet.{key}", **fields)


def _heading(key: str) -> Heading:
    return Heading(_word(f"section.{key}"))


# --- what it is -----------------------------------------------------------------------------------


def _subject_blocks(facts: SheetFacts) -> Iterator[Block]:
    yield Note(_word(f"covers.{facts.what}"))
    suppression = facts.check.suppression if facts.check else facts.plan.suppression
    rows = [
        ("project", facts.project),
        ("protocols", ", ".join(facts.protocols)),
        ("method", messages.text(f"documents.method.{facts.plan.method}", order=_order(facts))),
        ("before", messages.integer(suppression.records)),
        ("rows", messages.integer(suppression.rows)),
        ("published", messages.integer(len(facts.plan.published))),
        ("withheld", ", ".join(facts.withheld) or _word("none")),
    ]
    yield Fields(tuple((_word(f"about.{key}"), value) for key, value in rows if value))


def _order(facts: SheetFacts) -> str:
    return quoted_names(facts.plan.policy["order"])


# --- levels in words ------------------------------------------------------------------------------


def _levels(facts: SheetFacts) -> Iterator[Block]:
    yield _heading("levels")
    header = [_word(f"levels.{key}") for key in ("variable", "role", "shown")]
    rows: list[tuple[Cell, ...]] = []
    for variable in {variable.name: variable for variable in facts.variables}.values():
        role = messages.text(f"documents.minsal.role.{variable.role.value}") if variable.role else _word("none")
        rows.append((variable_title(variable), role, _publication_words(facts, variable)))
    yield table_of(header, rows, (2.0, 1.3, 3.4))
    if any(facts.plan.levels.values()):
        yield Paragraph(_word("levels.explained"))


def _publication_words(facts: SheetFacts, variable: Variable) -> str:
    """How a variable is published, in words."""
    treated, detail = list(_treatment_words(facts, variable.name)), _variable_detail(facts, variable)
    as_is = "" if treated or detail else _word("shown.as_is")
    parts = [*treated, detail, as_is, *_mask_words(facts, variable.name)]
    words = "; ".join(part for part in parts if part)
    return words[:1].upper() + words[1:] + "."


def _treatment_words(facts: SheetFacts, name: str) -> Iterator[str]:
    for change in facts.plan.changes:
        if name in change["columns"]:
            yield _word("shown.technique", technique=technique_name(str(change["technique"])))


def _variable_detail(facts: SheetFacts, variable: Variable) -> str:
    plan, name = facts.plan, variable.name
    if name in plan.levels:
        level, detail = plan.levels[name], plan.notes.get("detail", {}).get(name)
        if not level:
            return _word("shown.level_0")
        if detail is None:  # a plan of before
            return _word("shown.level", level=level)
        return _word("shown.level_words", shown=level_words(detail), level=level, height=detail["height"])
    if variable.role is not Role.QUASI or name not in plan.policy["quasi"]:
        return ""
    if plan.policy.get("partition"):
        return _word("shown.partition", variable=plan.policy["partition"])
    return _word(f"shown.{plan.method}") if plan.method in _LOCAL else ""


def _mask_words(facts: SheetFacts, name: str) -> Iterator[str]:
    plan = facts.plan
    if name in plan.followers:
        yield _word("shown.follower", names=quoted_names(plan.followers[name]))
    if plan.masked_sensitive.get(name):
        yield _word("shown.masked", rows=plan.masked_sensitive[name])


# --- figures --------------------------------------------------------------------------------------


def _records(facts: SheetFacts) -> Iterator[Block]:
    yield _heading("records")
    suppression = facts.check.suppression if facts.check else facts.plan.suppression
    sentences = list(suppression_sentences(suppression))
    for variable, planned in facts.plan.masked_sensitive.items():
        rows = facts.masked.get(variable, planned)
        key = "masked_value" if rows == planned else "masked_values"
        sentences.append(_word(key, variable=variable, counted=count_text(rows, suppression.rows), planned=planned))
    yield Items(tuple(sentences))


def _criteria(facts: SheetFacts) -> Iterator[Block]:
    yield _heading("criteria")
    rows: list[tuple[Cell, ...]] = [_criterion(facts, criterion) for criterion in facts.plan.policy["criteria"]]
    if facts.check is not None and not any(c["criterion"] == "k" for c in facts.plan.policy["criteria"]):
        rows.insert(0, (_word("criteria.k_unasked"), _measured_k(facts), _word("criteria.not_asked")))
    header = [_word(f"criteria.{key}") for key in ("asked", "measured", "state")]
    yield table_of(header, rows, (3.0, 2.6, 1.2)) if rows else Paragraph(_word("criteria.none"))
    yield Paragraph(messages.text("documents.done.explained"))


def _criterion(facts: SheetFacts, criterion: Mapping[str, Any]) -> tuple[str, str, str]:
    persons = facts.check is not None and facts.check.k_persons is not None
    asked = criterion_text({"unit": "persons", **criterion}, persons if facts.check else facts.persons)
    if facts.check is None:
        return asked, _word("criteria.later"), _word("criteria.searched")
    verdicts = [
        v for v in facts.check.verdicts if v.rule == criterion["criterion"] and _is_same_criterion(v.asked, criterion)
    ]
    state = verdicts[0].state if verdicts else State.NOT_MEASURABLE
    words = messages.text(f"plan.state_words.{state.value}")
    if criterion["criterion"] == "k":
        return asked, _measured_k(facts), words
    if criterion["criterion"] == "distinct_l" and facts.distinct.get(str(criterion["variable"])) is not None:
        least = facts.distinct[str(criterion["variable"])]
        return asked, _word("criteria.measured_l", l=least, variable=criterion["variable"]), words
    failing = verdicts[0].failing_classes if verdicts else 0
    return asked, _word("criteria.measured_classes", classes=failing), words


def _is_same_criterion(given: Mapping[str, Any], criterion: Mapping[str, Any]) -> bool:
    return all(given.get(key, value) == value for key, value in criterion.items())


def _measured_k(facts: SheetFacts) -> str:
    done = facts.done
    if done is None or done.smallest is None:
        return _word("criteria.no_class")
    if done.smallest == 1:
        single = messages.text(f"documents.public.one.{done.unit}")
        return _word("criteria.measured_one", one=single, single=done.single, classes=done.classes)
    unit = messages.text(f"explain.unit.{done.unit}")
    return _word("criteria.measured_k", k=done.smallest, unit=unit, classes=done.classes)


# --- rows as they are published -------------------------------------------------------------------


def _sample(facts: SheetFacts) -> Iterator[Block]:
    """A few rows, one a column: files have more variables than a page has room for."""
    yield _heading("sample")
    if facts.check is None:
        yield Paragraph(_word("sample.later"))
        return
    if not facts.sample:
        yield Paragraph(_word("sample.none", least=facts.sample_least))
        return
    yield Paragraph(_word("sample.explained", least=facts.sample_least))
    header = [_word("levels.variable"), *(_word("sample.row", number=n) for n in range(1, len(facts.sample) + 1))]
    rows = list(zip(facts.plan.published, *facts.sample, strict=True))
    yield table_of(header, rows, (1.4, *(1.5 for _ in facts.sample)))


# --- the frontier ---------------------------------------------------------------------------------


def _frontier(facts: SheetFacts) -> Iterator[Block]:
    yield _heading("frontier")
    yield Items(tuple(_point_sentences(facts.plan)))
    if not facts.frontier:
        asks_k = any(criterion["criterion"] == "k" for criterion in facts.plan.policy["criteria"])
        yield Paragraph(_word("frontier.unknown" if asks_k else "frontier.no_k"))
        return
    marked = [_word("frontier.marked")] if any(line.own for line in facts.frontier) else []
    yield Paragraph(" ".join([_word("frontier.explained"), *marked]))
    columns = ("k", "limit", "loss", "suppressed", "proved")
    rows = [_frontier_row(facts.plan, line) for line in facts.frontier]
    yield table_of([_word(f"frontier.{key}") for key in columns], rows, (1.0, 1.2, 1.3, 1.5, 1.5), (0, 1, 2, 3))


def _point_sentences(plan: Plan) -> Iterator[str]:
    loss, metric = loss_words(plan.loss_definition, plan.loss), metric_text(plan.loss_definition)
    yield messages.text(lost_key(plan.loss_definition), loss=loss, metric=metric)
    limit = float(_limit_of(plan))
    suppressed = count_text(plan.suppressed_rows, plan.suppression.records)
    allowed = int(limit * plan.suppression.records)
    key = "suppressed_free" if limit >= 1 else "suppressed_limit"
    yield _word(f"frontier.{key}", suppressed=suppressed, limit=messages.percent(limit), allowed=allowed)
    if not plan.policy["criteria"]:
        return  # nothing was asked, so that losing least says nothing
    if plan.optimal:
        yield _word("frontier.optimal_parts" if plan.policy.get("partition") else "frontier.optimal")
    elif plan.bound is not None:
        yield _word("frontier.bound", bound=loss_words(plan.loss_definition, plan.bound), loss=loss)
    else:
        yield _word("frontier.not_optimal")


def _limit_of(plan: Plan) -> float:
    numerator, _, denominator = str(plan.policy["limit"]).partition("/")
    return float(numerator) / float(denominator or 1)


def _frontier_row(plan: Plan, line: FrontierLine) -> tuple[str, ...]:
    k = _word("frontier.own", k=line.k) if line.own else messages.integer(line.k)
    limit = messages.percent(line.limit)
    if not line.feasible or line.loss is None:
        return k, limit, "–", "–", _word("frontier.infeasible")
    suppressed = f"{messages.integer(line.suppressed_rows)} ({messages.part(line.suppressed_share)})"
    answer = _word("frontier.proved_yes" if line.proved else "frontier.proved_no")
    return k, limit, loss_words(plan.loss_definition, line.loss), suppressed, answer


# --- risk, intruder, rules ------------------------------------------------------------------------


def _risk(facts: SheetFacts) -> Iterator[Block]:
    yield _heading("risk")
    if facts.done is None:
        yield Paragraph(_word("risk.later"))
        return
    yield Items(
        (*risk_sentences(facts.done), *group_sentences(facts.done), *value_sentences(facts.done, facts.distinct))
    )
    if facts.residual:
        yield Fields(tuple(signed_lines(facts.residual)))
    yield Note(messages.text("documents.public.risk_always"))


def _intruder(facts: SheetFacts) -> Iterator[Block]:
    if facts.check is None:
        return
    yield _heading("intruder")
    person = attempts_sentence(facts.attempts) if facts.attempts else _word("intruder.no_person")
    program = facts.findings if facts.findings is not None else (_word("intruder.no_program"),)
    yield Items((person, *program))


def _rules(facts: SheetFacts) -> Iterator[Block]:
    yield _heading("rules")
    if not facts.rules:
        yield Paragraph(_word("rules.later" if facts.check is None else "rules.none"))
    else:
        header = [_word(f"rules.{key}") for key in ("rule", "measured", "state")]
        rows = [
            (f"{line.sentence} ({line.protocol.upper()}, {line.section})", line.measured, line.state)
            for line in facts.rules
        ]
        yield table_of(header, rows, (3.4, 2.2, 1.1))
        yield Paragraph(_word("rules.states"))
    if facts.overrides:
        yield _heading("overrides")
        yield Items(tuple(override_sentence(override) for override in facts.overrides))


def _approvals(facts: SheetFacts) -> Iterator[Block]:
    if not facts.approvals:
        return
    yield _heading("approvals")
    header = [messages.text(f"documents.internal.{key}") for key in ("what", "who", "role", "when", "note")]
    rows = [
        (
            messages.text(f"documents.subject.{approval.what}"),
            approval.name,
            messages.text(f"protocols.role.{approval.role}"),
            approval.when[:10],
            approval.note,
        )
        for approval in facts.approvals
    ]
    yield table_of(header, rows, (1.2, 1.6, 1.8, 1.2, 2.0))
