"""A report of attacks in words: what a head of office reads on a terminal or a page.

Knows reports. Ignores files. Figures are told as the language writes them; a rate is never told without its interval.
"""

from __future__ import annotations

from collections.abc import Sequence

from celosia import messages
from celosia.model.claims import Outsider
from celosia.model.reports.attacks import SEVERITIES, UNJUDGED, AttackReport, Control, Estimate, Finding, HumanPart

_SHARES = ("commonest_rate", "majority_rate_without_record", "share_present", "threshold")


def intruder_sentences(report: AttackReport) -> list[str]:
    """The verdict in a few sentences, the gravest first."""
    strongest = report.strongest
    said = _harmless_sentences(report) if strongest is None else _strongest(report, strongest)
    untried = len(untried_attacks(report))
    return [*said, messages.text("intruder.verdict.not_all", count=untried)] if untried else said


def _harmless_sentences(report: AttackReport) -> list[str]:
    said = [messages.text("intruder.verdict.nothing")]
    worst = max(
        (estimate for estimate in report.before or () if estimate.works),
        key=lambda estimate: estimate.persons,
        default=None,
    )
    if worst is not None:
        said.append(
            messages.text(
                "intruder.verdict.worst_before",
                attack=attack_name(worst),
                persons=worst.persons,
                unit=unit_word(report),
            )
        )
    low = len(report.findings)
    return [*said, messages.text("intruder.verdict.low_only", count=low)] if low else said


def _strongest(report: AttackReport, result: Estimate | Finding) -> list[str]:
    key = "works_finding" if isinstance(result, Finding) else "works"
    total = report.rows if report.persons is None else report.persons
    said = [
        messages.text(
            f"intruder.verdict.{key}",
            attack=attack_name(result),
            persons=result.persons,
            total=total,
            unit=unit_word(report),
        )
    ]
    said.append(finding_sentence(result) if isinstance(result, Finding) else attack_description(result))
    if result.remedy:
        said.append(messages.text("intruder.verdict.remedy", remedy=result.remedy))
    else:
        said.append(messages.text("intruder.verdict.no_remedy"))
    if report.before is not None:
        said.append(_original_sentence(report, result))
    return said


def _original_sentence(report: AttackReport, result: Estimate | Finding) -> str:
    earlier = report.counterpart(result)
    reached = 0 if earlier is None or not _works(earlier) else earlier.persons
    if not reached:
        return messages.text("intruder.verdict.before_none")
    return messages.text("intruder.verdict.before", persons=reached, unit=unit_word(report))


def _works(result: Estimate | Finding) -> bool:
    return result.works if isinstance(result, Estimate) else True


def unit_word(report: AttackReport) -> str:
    """Persons where they can be told apart, else records."""
    return messages.text("intruder.unit.rows" if report.persons is None else "intruder.unit.persons")


def attack_name(result: Estimate | Finding) -> str:
    """The name of an attack or of a kind of finding."""
    if isinstance(result, Finding):
        return messages.text(f"intruder.kind.{result.kind}")
    name = messages.text(f"intruder.attack.{result.attack}")
    aimed = _target_column(result)
    return f"{name}: {aimed}" if aimed else name


def _target_column(estimate: Estimate) -> str:
    """At which column an attack aims, where it aims at one."""
    if estimate.risk == "inference":
        return str(estimate.detail.get("sensitive", ""))
    if estimate.attack == "differencing" or estimate.risk == "unmasking":
        return (
            (estimate.variables[-1:] or ("",))[0]
            if estimate.attack == "differencing"
            else (estimate.variables or ("",))[0]
        )
    return ""


def attack_description(estimate: Estimate) -> str:
    """What an attack consists of."""
    return messages.text(f"intruder.about.{estimate.attack}")


def finding_sentence(finding: Finding) -> str:
    """What a finding says, with its columns."""
    fields = {key: detail_value(key, value) for key, value in finding.detail.items()}
    first, second = (*finding.columns, "", "")[:2]
    return messages.text(f"intruder.finding.{finding.kind}", first=first, second=second, **fields)


def reason_sentence(estimate: Estimate) -> str:
    """Why an attack could not be tried, or could not be compared."""
    return "" if estimate.reason is None else messages.text(f"intruder.reason.{estimate.reason}", **estimate.detail)


def untried_attacks(report: AttackReport) -> tuple[Estimate, ...]:
    """The attacks that could not be tried."""
    return tuple(estimate for estimate in report.estimates if not estimate.measured)


def rate_text(estimate: Estimate) -> str:
    """The rate of right guesses with its interval."""
    return interval_text(estimate.rate, estimate.low, estimate.high)


def control_text(estimate: Estimate) -> str:
    """The rate of the control and what it is."""
    word = messages.text(f"intruder.control.{estimate.control.value}")
    return word if estimate.control_rate is None else f"{messages.percent(estimate.control_rate, 1)} ({word})"


def excess_text(estimate: Estimate) -> str:
    """The excess over the control, with its interval."""
    return interval_text(estimate.excess, estimate.excess_low, estimate.excess_high)


def interval_text(value: float | None, low: float | None, high: float | None) -> str:
    """A share with its interval; a dash where there is none."""
    if value is None or low is None or high is None:
        return messages.text("intruder.none")
    shown = {"value": value, "low": low, "high": high}
    return messages.text("intruder.interval", **{key: messages.decimal(100 * share, 1) for key, share in shown.items()})


def outcome_text(estimate: Estimate) -> str:
    """Whether an attack works, whom it reaches and what would reduce it most."""
    if not estimate.works:
        return messages.text("intruder.fails" if estimate.measured else "intruder.not_tried")
    if estimate.remedy is None:
        return messages.text("intruder.works", persons=estimate.persons)
    return messages.text("intruder.works_until", persons=estimate.persons, remedy=estimate.remedy)


def detail_text(result: Estimate | Finding) -> str:
    """The figures behind an attack, as «label: value»."""
    figures = [
        f"{messages.text(f'intruder.detail.{key}')}: {detail_value(key, value)}"
        for key, value in result.detail.items()
        if messages.has(f"intruder.detail.{key}")
    ]
    return "; ".join(figures)


def detail_value(key: str, value: float | str) -> str:
    """One figure as text."""
    if key == "space":
        return messages.text(f"intruder.space.{value}")
    if isinstance(value, str):
        return value
    if key in _SHARES:
        return messages.percent(value, 1)
    return messages.integer(value) if isinstance(value, int) else messages.decimal(value, 1)


def human_sentence(human: HumanPart | None, notes: Sequence[str] = ()) -> str:
    """The test with a person: its rate and interval, or what is missing."""
    if human is None and UNJUDGED in notes:
        return messages.text("intruder.human.unjudged")
    if human is None:
        return messages.text("intruder.human.none")
    if not human.current:
        return messages.text("intruder.human.old", attempts=human.attempts)
    if human.rate is None or human.low is None or human.high is None:
        return messages.text("intruder.human.empty")
    shares = {key: messages.percent(getattr(human, key), 1) for key in ("rate", "low", "high")}
    return messages.text(
        "intruder.human.rate",
        attempts=human.attempts,
        claims=human.claims,
        correct=human.correct,
        minutes=human.minutes,
        **shares,
    )


def outsider_text(outsider: Outsider) -> str:
    """Who tried, whether they stated their independence, and when."""
    key = "independent" if outsider.independent else "unstated"
    return messages.text(f"intruder.outsider.{key}", name=outsider.name, when=outsider.when or "–")


def attacks_sentences(report: AttackReport | None, only_high: bool = False) -> list[str]:
    """What the attacks by computation found: what is visible by its gravity, and every attack that works."""
    if report is None:
        return [messages.text("intruder.attacks.never")]
    shown = ("high",) if only_high else ("high", "medium")
    findings = sorted(report.findings, key=lambda finding: SEVERITIES.index(finding.severity))
    sentences = [graded_sentence(finding, report) for finding in findings if finding.severity in shown]
    if not only_high:
        working = [estimate for estimate in report.estimates if estimate.works]
        sentences += [f"{attack_name(estimate)}: {outcome_text(estimate)}." for estimate in working]
    return sentences or [messages.text("intruder.attacks.nothing")]


def graded_sentence(finding: Finding, report: AttackReport) -> str:
    """A finding with its gravity and whom it reaches."""
    severity = messages.text(f"intruder.severity.{finding.severity}")
    fields = {"severity": severity, "finding": finding_sentence(finding), "persons": finding.persons}
    return messages.text("intruder.attacks.finding", **fields, unit=unit_word(report))


def note_sentences(report: AttackReport) -> list[str]:
    """How the report is to be read."""
    without = any(estimate.control is Control.WITHOUT_RECORD for estimate in report.estimates)
    keys = [
        "only_the_excess",
        *(["without_record"] if without else []),
        *(note for note in report.notes if note != UNJUDGED),
    ]
    return [messages.text(f"intruder.note.{key}") for key in keys]
