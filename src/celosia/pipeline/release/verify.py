"""`verify`: what a release folder shows to somebody who has nothing else, on any machine.

Digests, signatures and approvals are checked; the published data are read and measured again; what only the source
could answer is shown as attested by those who signed it. What could not be measured has failed (DESIGN §5).
"""

from __future__ import annotations

import contextlib
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from celosia import messages
from celosia.errors import CelosiaError
from celosia.model import dictionary
from celosia.model.paths import ReleasePaths
from celosia.model.people import Approval, Person
from celosia.model.plan import Plan, policy_from
from celosia.model.protocols import Needs, Rule
from celosia.model.releases import Manifest
from celosia.model.reports.scenarios import Scenario
from celosia.model.reports.verification import Finding, Publication, VerifyReport
from celosia.model.rules import RuleReport, RuleResult, rule_report_from
from celosia.model.variables import Role, Variable
from celosia.model.verdict import CheckReport, State, Verdict
from celosia.pipeline.candidate.check_file import SourceReference, check_file
from celosia.pipeline.candidate.rule_context import RuleContext, published_figures
from celosia.pipeline.candidate.rules import judge_rules
from celosia.pipeline.intake.open_table import open_table
from celosia.pipeline.project.arguments import PathArg, utc_now
from celosia.pipeline.project.folder import Project
from celosia.pipeline.release.data_files import open_published_file
from celosia.pipeline.release.folder import ReleaseOnDisk, read_release
from celosia.pipeline.release.forms import changed_forms, forms_beside
from celosia.pipeline.release.legal.declared_trust import project_of
from celosia.pipeline.release.legal.findings import legal_findings
from celosia.pipeline.release.legal.time_stamps import verify_stamps
from celosia.pipeline.release.publication_entry import wrong_parts
from celosia.pipeline.release.reader_cards import Cards, trust_finding
from celosia.pipeline.release.signers import (
    approvals_finding,
    dates_finding,
    roster_finding,
    signatures_finding,
    valid_approvals,
    valid_signatures,
)
from celosia.protocols.load import combined_rules
from celosia.protocols.measures import MEASURES, Stage
from celosia.risk.criteria import Criterion, criterion_from
from celosia.storage import SPILL_PREFIX, private_tempdir, remove_folder
from celosia.tuples.table import Tuples

_PERSONAL = ("k", "l", "risk_index", "residual_risk")  # counted in persons where the institution knows them
_NEEDS_MORE = ("k_map",)  # the population table stays in the institution
_KNOWN = re.compile(
    r"roster\.jsonl|data\.(csv|parquet|sav|dta|xlsx)|dictionary\.csv|dossier/[a-z_-]+\.(html|pdf|docx|svg|png)"
)
_OTHER_DATA = re.compile(r"data\.(parquet|sav|dta|xlsx)")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
# What reading an odd manifest raises: parts that are absent, of another kind, or no number. Nothing of it holds.
_MALFORMED = (CelosiaError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
_ELSEWHERE = "…"  # all values that the file shows nowhere


def verify_release(
    release: PathArg,
    trusted: Cards | None = None,
    *,
    heads: Cards | None = None,
    signed_pdfs: Sequence[Path] = (),
    trust: Sequence[Path] = (),
    project: Project | None = None,
    now: datetime | None = None,
) -> VerifyReport:
    """Judge a release from its folder alone; every signature and approval must be of a `trusted` key and its name.

    `heads` are keys and names of those who head the project: one of them vouches for everybody in the roster.
    `signed_pdfs` are forms with legal signatures, `trust` the reader's authorities for them and for time stamps;
    `project` is the one in which the release lies, where it was opened already.
    """
    stored = read_release(Path(release))
    home = project_of(stored.folder) if project is None else project
    manifest = stored.manifest
    valid = valid_signatures(stored)
    variables, described = _dictionary(stored)
    check = _measure_release(stored)
    rules, asked = _rules(stored, check, variables, valid)
    findings = [_files(stored), _other_formats(stored), described, asked, _figures(manifest, check)]
    findings += [roster_finding(stored, valid), signatures_finding(stored, valid, home), approvals_finding(stored)]
    given = [*valid, *_publisher(stored)]
    findings.append(dates_finding(stored, given, utc_now(now)))
    if manifest.forms is not None:
        findings.append(_forms(stored))
    findings += [*legal_findings(stored, home, signed_pdfs, trust, now), *verify_stamps(stored, home, trust, now)]
    if trusted or heads:
        findings.append(trust_finding(stored, valid, [*given, *stored.approvals], trusted or {}, heads or {}))
    if stored.publication is not None:
        findings.append(_publication(stored.publication, stored))
    return VerifyReport(
        release=stored.folder.resolve().name,
        manifest=manifest.digest,
        findings=tuple(findings),
        check=None if check is None else _mark_attested(check, manifest),
        rules=rules,
        signatures=tuple({"role": s.role, "name": s.name, "key": s.key, "when": s.when} for s in valid),
        label=manifest.label,
    )


def _state(holds: bool) -> State:
    return State.HOLDS if holds else State.FAILS


def _files(release: ReleaseOnDisk) -> Finding:
    files = release.manifest.files
    strange = [name for name in files if not _KNOWN.fullmatch(name)]
    unread = [name for name, digest in files.items() if not _DIGEST.fullmatch(str(digest))]
    parts = {"changed": [*release.changed, *unread], "added": [*release.added, *strange], "removed": release.removed}
    wrong = tuple(messages.text(f"release.{key}", file=name) for key, names in parts.items() for name in names)
    return Finding("files", _state(not wrong), wrong)


def _forms(release: ReleaseOnDisk) -> Finding:
    """The forms stay in the institution: the signatures attest them, and one that is at hand must be as signed."""
    folder = forms_beside(release.folder)
    wrong = changed_forms(folder, release.manifest) if folder is not None else ()
    names = tuple(sorted(release.manifest.forms or {}))
    return Finding("forms", State.FAILS, wrong) if wrong else Finding("forms", State.ATTESTED, names)


def _publication(entry: Publication, release: ReleaseOnDisk) -> Finding:
    """The entry against what is signed, and who signed it; one of an older release carries no signature."""
    wrong = wrong_parts(entry, release)
    reasons = tuple(messages.text(f"release.publication_wrong.{part}") for part in wrong)
    if entry.signed is None:
        return Finding("publication", _state(not wrong), reasons or (messages.text("release.publication_unsigned"),))
    words = messages.text("release.publication_signed", name=entry.signed.name, date=entry.signed.when[:10])
    return Finding("publication", _state(not wrong), reasons or (words,))


def _publisher(release: ReleaseOnDisk) -> tuple[Approval, ...]:
    """The signature of a publication entry, where it carries one."""
    entry = release.publication
    return (entry.signed,) if entry is not None and entry.signed is not None else ()


def _other_formats(release: ReleaseOnDisk) -> Finding:
    """Every other data file holds the table of data.csv: the same columns and combinations, as often.

    One that is not as it was signed is wrong already, and not opened: a damaged one may end whoever reads it.
    """
    wrong = [name for name in release.changed if _OTHER_DATA.fullmatch(name)]
    try:
        with open_published_file(ReleasePaths(release.folder).data) as published:
            expected = published.table.tuples(published.table.names)
        for name in sorted(n for n in release.manifest.files if _OTHER_DATA.fullmatch(n) and n not in wrong):
            with open_table(release.folder / name, described=False) as other:
                same = set(other.table.names) == set(expected.names)
                wrong += [] if same and _same_table(other.table.tuples(expected.names), expected) else [name]
    except CelosiaError:
        return Finding("formats", State.NOT_MEASURABLE)
    return Finding("formats", _state(not wrong), tuple(wrong))


def _same_table(table: Tuples, other: Tuples) -> bool:
    same_counts = np.array_equal(table.codes, other.codes) and np.array_equal(table.rows, other.rows)
    return same_counts and table.vocabularies == other.vocabularies


def _dictionary(release: ReleaseOnDisk) -> tuple[tuple[Variable, ...], Finding]:
    """The public dictionary must describe the published columns, each once."""
    path = ReleasePaths(release.folder).dictionary
    try:
        variables = dictionary.load(path.read_text("utf-8"), path.name)
    except (OSError, ValueError, CelosiaError):
        return (), Finding("dictionary", State.NOT_MEASURABLE)
    try:
        different = set(release.manifest.published) ^ {variable.name for variable in variables}
        different |= _other_roles(release.manifest.policy, variables)
    except _MALFORMED:
        return variables, Finding("dictionary", State.NOT_MEASURABLE)
    return variables, Finding("dictionary", _state(not different), tuple(sorted(map(str, different))))


def _other_roles(policy: Mapping[str, Any], variables: Sequence[Variable]) -> set[str]:
    """Columns whose role in the public dictionary is not the one they were judged in."""
    links = set(policy.get("links", ()))
    names: set[str] = set()
    for role, key in ((Role.QUASI, "quasi"), (Role.SENSITIVE, "sensitive")):
        names |= ({v.name for v in variables if v.role == role} - links) ^ set(policy.get(key, ()))
    return names


# --- the data, measured again ---------------------------------------------------------------------


def plan_of_manifest(manifest: Manifest) -> Plan:
    """What the check of a written file needs of a plan, as far as a release tells it."""
    policy = manifest.policy
    return Plan(
        method=policy["method"],
        policy=policy,
        source="",
        dictionary="",
        published=manifest.published,
        followers=manifest.followers,
        levels={},
        loss=0.0,
        loss_definition="",
        suppressed_rows=manifest.suppressed_rows,
        suppressed_share=0.0,
        masked_sensitive={},
        classes=0,
        nodes=0,
        nodes_checked=0,
        optimal=False,
        bound=None,
        seed=manifest.seed,
        notes={"households": {"constant": policy.get("constant", {})}},
    )


def measure_release(data: Path, manifest: Manifest, plan: Plan) -> CheckReport:
    """The check of the published file over every criterion that it can answer, counted in rows."""
    policy = policy_from(plan.policy)
    criteria = [criterion_from(data) for data in policy.criteria]
    able = [criterion for criterion in criteria if answerable(criterion, manifest.references)]
    judged = dict.fromkeys([*policy.sensitive, *(criterion.variable for criterion in able if criterion.variable)])
    with open_published_file(data) as published:
        shown = {name: published.counts(name) for name in judged}
    source = {name: _reference(name, shown[name], manifest.references.get(name)) for name in judged}
    narrow = replace(plan, policy=replace(policy, criteria=tuple(criterion.as_dict() for criterion in able)).as_dict())
    dropped = manifest.suppressed_rows if policy.suppressed == "drop" else 0
    with _scratch_folder() as scratch:
        return check_file(data, narrow, scratch, None, SourceReference(manifest.rows + dropped, source))


@contextlib.contextmanager
def _scratch_folder() -> Iterator[Path]:
    scratch = private_tempdir(Path(tempfile.gettempdir()), SPILL_PREFIX)
    try:
        yield scratch
    finally:
        remove_folder(scratch)


def answerable(criterion: Criterion, references: Mapping[str, Any]) -> bool:
    """Whether a release holds what a criterion needs."""
    parameters = criterion.as_dict()
    if criterion.name in _NEEDS_MORE or parameters.get("distance") == "hierarchical":
        return False
    if parameters.get("reference") != "source":
        return True
    reference = references.get(criterion.variable)
    return reference is not None and not (reference["hidden"] and parameters.get("distance") == "ordered")


def _reference(name: str, shown: Mapping[str, int], reference: Mapping[str, Any] | None) -> Tuples:
    """A distribution as a table of one column: the one in the manifest, or the file's own."""
    counts = dict(shown) if reference is None else dict(reference["counts"])
    if reference is not None and reference["hidden"]:
        counts[_ELSEWHERE] = int(reference["hidden"])
    values = tuple(sorted(counts))
    codes = np.arange(len(values), dtype=np.int32).reshape(-1, 1)
    return Tuples((name,), (values,), codes, np.array([counts[value] for value in values], np.int64))


def _measure_release(release: ReleaseOnDisk) -> CheckReport | None:
    """The published data measured again; None where they cannot even be read under their policy."""
    try:
        return measure_release(ReleasePaths(release.folder).data, release.manifest, plan_of_manifest(release.manifest))
    except _MALFORMED:
        return None


def _mark_attested(check: CheckReport, manifest: Manifest) -> CheckReport:
    """The check as it is shown: criteria in persons, or that need what is not here, are attested where none fails."""
    shown = list(check.verdicts)
    for position, verdict in enumerate(shown):
        personal = manifest.policy.get("counted") == verdict.asked.get("unit") == "persons"
        if personal and verdict.state is State.HOLDS:
            shown[position] = replace(verdict, state=State.ATTESTED)
    for data in manifest.policy["criteria"]:
        criterion = criterion_from(data)
        if not answerable(criterion, manifest.references):
            shown.append(Verdict(criterion.name, criterion.as_dict(), None, 0, 0, State.ATTESTED))
    return replace(check, verdicts=tuple(shown))


def _figures(manifest: Manifest, check: CheckReport | None) -> Finding:
    """What the manifest says of the file is what the file says of itself; k in persons is never above k in rows."""
    try:
        wrong = None if check is None else _wrong_figures(manifest, check)
    except _MALFORMED:
        wrong = None
    return Finding("figures", State.NOT_MEASURABLE if wrong is None else _state(not wrong), tuple(wrong or ()))


def _wrong_figures(manifest: Manifest, check: CheckReport) -> list[str]:
    wrong = [] if check.rows == manifest.rows else ["rows"]
    counts = {"suppressed_rows": check.suppressed_rows, "otherwise_masked_rows": check.otherwise_masked_rows}
    if manifest.otherwise_masked_rows is None and check.drops_suppressed:
        del counts["otherwise_masked_rows"]  # a release of before says nothing of them
    wrong += [name for name, rows in counts.items() if rows != (getattr(manifest, name) or 0)]
    for rule in manifest.rules:
        k = rule["measured"].get("k") if "unit" in rule["measured"] else None
        if k is not None and check.k is not None:
            agrees = k <= check.k if rule["measured"]["unit"] == "persons" else k == check.k
            wrong += [] if agrees else [f"{rule['protocol']} · {rule['rule']}"]
    return wrong


# --- rules ----------------------------------------------------------------------------------------


def _rules(
    release: ReleaseOnDisk, check: CheckReport | None, variables: tuple[Variable, ...], signatures: Sequence[Approval]
) -> tuple[tuple[RuleResult, ...], Finding]:
    """Every rule of the release's protocols: measured again where the file answers it, else as it was attested."""
    manifest = release.manifest
    try:
        attested = rule_report_from({"format": "celosia/rules/1", "digest": "", "results": manifest.rules})
        rules = combined_rules(manifest.protocols, _overrides(manifest))
        context = _context(release, check, variables, signatures)
        return _rules_again(release, attested, rules, replace(context, no_sensitive_attribute=_statement(attested)))
    except _MALFORMED:
        return (), Finding("rules", State.NOT_MEASURABLE)


def _rules_again(
    release: ReleaseOnDisk, attested: RuleReport, rules: Sequence[Rule], context: RuleContext
) -> tuple[tuple[RuleResult, ...], Finding]:
    due = [rule for rule in rules if MEASURES[rule.measure].since <= Stage.RELEASE]
    wrong = _differing(due, attested)
    again = judge_rules(context, [rule for rule in due if rule.needs in (Needs.FILE, Needs.PEOPLE)], "release")
    measured = {(result.protocol, result.rule): result for result in again.results}
    in_persons = release.manifest.policy.get("counted") == "persons"
    personal = {(rule.protocol, rule.id) for rule in rules if in_persons and rule.measure in _PERSONAL}
    results = []
    for result in attested.results:
        key = (result.protocol, result.rule)
        results.append(_shown_result(result, measured.get(key), key in personal))
    signing = [rule for rule in rules if rule.measure == "signatures"]
    return (*results, *judge_rules(context, signing, "publish").results), Finding("rules", _state(not wrong), wrong)


def _statement(attested: RuleReport) -> str:
    """Why nothing published is a sensitive attribute, as the signers attest it."""
    stated = [result.measured["statement"] for result in attested.results if "statement" in result.measured]
    return str(stated[0]) if stated else ""


def _overrides(manifest: Manifest) -> dict[str, dict[str, Any]]:
    overrides: dict[str, dict[str, Any]] = {}
    for override in manifest.overrides:
        change = {"asked": override["asked"], "reason": override["reason"]}
        overrides.setdefault(override["protocol"], {})[override["rule"]] = change
    return overrides


def _differing(rules: Sequence[Rule], attested: RuleReport) -> tuple[str, ...]:
    """Rules that the manifest leaves out, adds, or asks otherwise than the norm and the stated overrides do."""
    expected = {(rule.protocol, rule.id): _comparable(rule) for rule in rules}
    present = {(result.protocol, result.rule): _comparable(result) for result in attested.results}
    keys = {key for key in {*expected, *present} if expected.get(key) != present.get(key)}
    return tuple(sorted(f"{protocol} · {rule}" for protocol, rule in keys))


def _comparable(rule: Rule | RuleResult) -> tuple[Any, ...]:
    asked = {key: list(value) if isinstance(value, tuple) else value for key, value in rule.asked.items()}
    return asked, rule.severity, rule.needs, rule.overridden


def _context(
    release: ReleaseOnDisk, check: CheckReport | None, variables: tuple[Variable, ...], signatures: Sequence[Approval]
) -> RuleContext:
    plan, data = plan_of_manifest(release.manifest), ReleasePaths(release.folder).data
    listed = release.manifest.policy.get("scenarios", ())
    scenarios = [Scenario(tuple(scenario["variables"]), Fraction(scenario["threshold"])) for scenario in listed]
    figures = None
    if check is not None:
        with _scratch_folder() as scratch:
            figures = published_figures(data, plan, variables, scenarios, None, scratch, check.rows)
    members = release.roster.current if release.roster else ()
    approvals: dict[str, list[Approval]] = {}
    for approval in valid_approvals(release):
        approvals.setdefault(approval.what, []).append(approval)
    return RuleContext(
        published=variables,
        plan=plan,
        check=check,
        figures=figures,
        signatures=signatures,
        people=tuple(Person(member.name, member.roles, member.key) for member in members),
        approvals=approvals,
    )


def _shown_result(attested: RuleResult, measured: RuleResult | None, personal: bool) -> RuleResult:
    """A rule as the release shows it: measured from the file, or attested with the figures that were signed."""
    if measured is None or (personal and measured.state is State.HOLDS):
        return replace(attested, state=State.ATTESTED) if attested.state is State.HOLDS else attested
    return measured
