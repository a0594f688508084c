"""`verify`: what a release folder shows to somebody who has nothing else, on any machine.

Digests, signatures and approvals are checked; the published data are read and measured again; what only the source
could answer is shown as attested by those who signed it. What could not be measured has failed (DESIGN §5).
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from celosia import messages
from celosia.data.files import SPILL, own_folder
from celosia.errors import CelosiaError
from celosia.model import dictionary
from celosia.model.people import Approval, Person
from celosia.model.plan import Plan, policy_from
from celosia.model.protocols import Needs, Rule
from celosia.model.releases import Manifest
from celosia.model.rules import RuleReport, RuleResult, rule_report_from
from celosia.model.scenarios import Scenario
from celosia.model.variables import Role, Variable
from celosia.model.verdict import CheckReport, State, Verdict
from celosia.model.verification import Finding, Publication, VerifyReport
from celosia.pipeline._call import Place
from celosia.pipeline._check import check_file
from celosia.pipeline._identity import is_signed
from celosia.pipeline._open import opened
from celosia.pipeline._people import same_name
from celosia.pipeline._publication import wrong_parts
from celosia.pipeline._release_files import published_file
from celosia.pipeline._release_folder import Held, read_release
from celosia.pipeline._rule_context import RuleContext
from celosia.pipeline._rule_figures import published_figures
from celosia.pipeline._rules import judge_rules
from celosia.protocols import MEASURES, Stage, combined
from celosia.risk.criteria import Criterion, criterion_from
from celosia.tuples import Tuples

_PERSONAL = ("k", "l", "risk_index", "residual_risk")  # counted in persons where the house knows them
_NEEDS_MORE = ("k_map",)  # the population table stays in the house
_KNOWN = re.compile(r"data\.(csv|parquet|sav|dta|xlsx)|dictionary\.csv|dossier/[a-z_-]+\.(html|pdf|docx|svg|png)")
_OTHER_DATA = re.compile(r"data\.(parquet|sav|dta|xlsx)")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
# What reading an odd manifest raises: parts that are absent, of another kind, or no number. Nothing of it holds.
_ODD = (CelosiaError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
_ELSEWHERE = "…"  # stands for all values that the file shows nowhere


def verify_release(release: Place, trusted: Collection[str] = ()) -> VerifyReport:
    """Judge a release from its folder alone; `trusted` are public keys that every signature must come from."""
    held = read_release(Path(release))
    manifest = held.manifest
    valid, signed = _signatures(held)
    variables, described = _dictionary(held)
    check = _measured(held)
    rules, asked = _rules(held, check, variables, valid)
    findings = [_files(held), _other_formats(held), described, asked, signed, _approvals(held)]
    findings.append(_figures(manifest, check))
    if trusted:
        unknown = tuple(one.name for one in valid if one.key not in trusted)
        findings.append(Finding("trust", _state(bool(valid) and not unknown), unknown))
    if held.publication is not None:
        findings.append(_publication(held.publication, held))
    return VerifyReport(
        release=held.folder.resolve().name,
        manifest=manifest.digest,
        findings=tuple(findings),
        check=None if check is None else _attested(check, manifest),
        rules=rules,
        signatures=tuple({"role": s.role, "name": s.name, "key": s.key, "when": s.when} for s in valid),
        label=manifest.label,
    )


def _state(holds: bool) -> State:
    return State.HOLDS if holds else State.FAILS


def _files(held: Held) -> Finding:
    strange = tuple(name for name in held.manifest.files if not _KNOWN.fullmatch(name))
    unread = tuple(name for name, digest in held.manifest.files.items() if not _DIGEST.fullmatch(str(digest)))
    parts = (("changed", (*held.changed, *unread)), ("added", (*held.added, *strange)), ("removed", held.removed))
    wrong = tuple(messages.text(f"release.{key}", file=name) for key, names in parts for name in names)
    return Finding("files", _state(not wrong), wrong)


def _publication(entry: Publication, held: Held) -> Finding:
    """The entry against what is signed; where nothing contradicts it, its dates still carry no signature."""
    wrong = wrong_parts(entry, held.manifest, held.folder)
    told = tuple(messages.text(f"release.publication_wrong.{part}") for part in wrong)
    return Finding("publication", _state(not wrong), told or (messages.text("release.publication_unsigned"),))


def _other_formats(held: Held) -> Finding:
    """Every other data file holds the very table of data.csv: the same columns and combinations, as often.

    One that is not as it was signed is wrong already, and not opened: a damaged one may end whoever reads it.
    """
    wrong = [name for name in held.changed if _OTHER_DATA.fullmatch(name)]
    try:
        with published_file(held.folder / "data.csv") as published:
            expected = published.table.tuples(published.table.names)
        for name in sorted(n for n in held.manifest.files if _OTHER_DATA.fullmatch(n) and n not in wrong):
            with opened(held.folder / name, described=False) as found:
                same = set(found.table.names) == set(expected.names)
                wrong += [] if same and _same_table(found.table.tuples(expected.names), expected) else [name]
    except CelosiaError:
        return Finding("formats", State.NOT_MEASURABLE)
    return Finding("formats", _state(not wrong), tuple(wrong))


def _same_table(one: Tuples, other: Tuples) -> bool:
    return (
        one.vocabularies == other.vocabularies
        and bool(np.array_equal(one.codes, other.codes))
        and bool(np.array_equal(one.rows, other.rows))
    )


def _dictionary(held: Held) -> tuple[tuple[Variable, ...], Finding]:
    """The public dictionary must describe the published columns, each once."""
    path = held.folder / "dictionary.csv"
    try:
        variables = dictionary.load(path.read_text("utf-8"), path.name)
    except (OSError, ValueError, CelosiaError):
        return (), Finding("dictionary", State.NOT_MEASURABLE)
    try:
        different = set(held.manifest.published) ^ {variable.name for variable in variables}
        different |= _other_roles(held.manifest.policy, variables)
    except _ODD:
        return variables, Finding("dictionary", State.NOT_MEASURABLE)
    return variables, Finding("dictionary", _state(not different), tuple(sorted(map(str, different))))


def _other_roles(policy: Mapping[str, Any], variables: Sequence[Variable]) -> set[str]:
    """Columns whose role in the public dictionary is not the one they were judged in."""
    links = set(policy.get("links", ()))
    found: set[str] = set()
    for role, key in ((Role.QUASI, "quasi"), (Role.SENSITIVE, "sensitive")):
        found |= ({v.name for v in variables if v.role == role} - links) ^ set(policy.get(key, ()))
    return found


# --- people ---------------------------------------------------------------------------------------


def _signatures(held: Held) -> tuple[list[Approval], Finding]:
    """The valid signatures over the manifest; one that is not right, or none at all, fails."""
    valid = [one for one in held.signatures if one is not None and _covers_release(one, held.manifest)]
    bad = len(held.signatures) - len(valid)
    clash = _clash([*valid, *held.approvals])
    reasons = [messages.text("release.signature_wrong", count=bad)] if bad else []
    reasons += [messages.text("release.signature_none")] if not held.signatures else []
    reasons += [messages.text("release.same_person", name=name) for name in clash]
    return valid, Finding("signatures", _state(not reasons), tuple(reasons))


def _covers_release(one: Approval, manifest: Manifest) -> bool:
    return one.what == "release" and one.digest == manifest.digest and _rightly_signed(one, manifest)


def _rightly_signed(one: Approval, manifest: Manifest) -> bool:
    """Signed by the key it names, which the manifest gives to that person in that role."""
    known = [p for p in manifest.people if p.get("key") == one.key or same_name(str(p.get("name")), one.name)]
    alone = len(known) == 1 and known[0].get("key") == one.key  # one key under two names is nobody's
    held = alone and one.role in known[0].get("roles", ())
    return held and is_signed(one.signed_part(), one.signature, one.key)


def _clash(signed: Sequence[Approval]) -> list[str]:
    """People who executed and verified."""
    executed = {mark for one in signed if one.role == "executor" for mark in (one.key, one.name.casefold())}
    found = [one for one in signed if one.role == "verifier" and {one.key, one.name.casefold()} & executed]
    return list(dict.fromkeys(one.name for one in found))


def _approvals(held: Held) -> Finding:
    """Every approval that the manifest carries is right and covers what is here."""
    manifest = held.manifest
    digests = {**manifest.covered, "candidate": manifest.files.get("data.csv")}
    wrong = [
        one for one in held.approvals
        if not _rightly_signed(one, manifest) or one.digest != digests.get(one.what)
    ]  # fmt: skip
    return Finding("approvals", _state(not wrong), tuple(f"{one.what} · {one.name}" for one in wrong))


# --- the data, measured again ---------------------------------------------------------------------


def plan_of_manifest(manifest: Manifest) -> Plan:
    """What the check of a written file needs of a plan, as far as a release tells it."""
    policy = manifest.policy
    return Plan(
        method=policy["method"], policy=policy, source="", dictionary="", published=manifest.published,
        followers=manifest.followers, levels={}, loss=0.0, loss_definition="", suppressed_rows=manifest.suppressed_rows,
        suppressed_share=0.0, masked_sensitive={}, classes=0, nodes=0, nodes_checked=0, optimal=False, bound=None,
        seed=manifest.seed, notes={"households": {"constant": policy.get("constant", {})}},
    )  # fmt: skip


def measured_again(data: Path, manifest: Manifest, plan: Plan) -> CheckReport:
    """The check of the published file over every criterion that it can answer, counted in rows."""
    policy = policy_from(plan.policy)
    able = [one for one in map(criterion_from, policy.criteria) if answerable(one, manifest.references)]
    judged = dict.fromkeys([*policy.sensitive, *(one.variable for one in able if one.variable)])
    with published_file(data) as published:
        shown = {name: published.counts(name) for name in judged}
    source = {name: _reference(name, shown[name], manifest.references.get(name)) for name in judged}
    narrow = replace(plan, policy=replace(policy, criteria=tuple(one.as_dict() for one in able)).as_dict())
    dropped = manifest.suppressed_rows if policy.suppressed == "drop" else 0
    scratch = own_folder(Path(tempfile.gettempdir()), SPILL)
    try:
        return check_file(data, narrow, scratch, None, source, manifest.rows + dropped)
    finally:
        _remove(scratch)


def answerable(criterion: Criterion, references: Mapping[str, Any]) -> bool:
    """Whether a release holds what a criterion needs."""
    held = criterion.as_dict()
    if criterion.name in _NEEDS_MORE or held.get("distance") == "hierarchical":
        return False
    if held.get("reference") != "source":
        return True
    told = references.get(criterion.variable)
    return told is not None and not (told["hidden"] and held.get("distance") == "ordered")


def _reference(name: str, shown: Mapping[str, int], told: Mapping[str, Any] | None) -> Tuples:
    """A distribution as a table of one column: the one that the manifest tells, or the file's own."""
    counts = dict(shown) if told is None else dict(told["counts"])
    if told is not None and told["hidden"]:
        counts[_ELSEWHERE] = int(told["hidden"])
    values = tuple(sorted(counts))
    codes = np.arange(len(values), dtype=np.int32).reshape(-1, 1)
    return Tuples((name,), (values,), codes, np.array([counts[value] for value in values], np.int64))


def _remove(folder: Path) -> None:
    import shutil

    shutil.rmtree(folder, ignore_errors=True)


def _measured(held: Held) -> CheckReport | None:
    """The published data measured again; None where they cannot even be read under their policy."""
    try:
        return measured_again(held.folder / "data.csv", held.manifest, plan_of_manifest(held.manifest))
    except _ODD:
        return None


def _attested(check: CheckReport, manifest: Manifest) -> CheckReport:
    """The check as it is shown: criteria in persons, or that need what is not here, are attested where none fails."""
    persons = manifest.policy.get("counted") == "persons"
    shown = [_in_persons(one) if persons else one for one in check.verdicts]
    for data in manifest.policy["criteria"]:
        criterion = criterion_from(data)
        if not answerable(criterion, manifest.references):
            shown.append(Verdict(criterion.name, criterion.as_dict(), None, 0, 0, State.ATTESTED))
    return replace(check, verdicts=tuple(shown))


def _in_persons(verdict: Verdict) -> Verdict:
    counts_persons = verdict.asked.get("unit") == "persons" and verdict.state is State.HOLDS
    return replace(verdict, state=State.ATTESTED) if counts_persons else verdict


def _figures(manifest: Manifest, check: CheckReport | None) -> Finding:
    """What the manifest says of the file is what the file says of itself; k in persons is never above k in rows."""
    if check is None:
        return Finding("figures", State.NOT_MEASURABLE)
    try:
        wrong = _wrong_figures(manifest, check)
    except _ODD:
        return Finding("figures", State.NOT_MEASURABLE)
    return Finding("figures", _state(not wrong), tuple(wrong))


def _wrong_figures(manifest: Manifest, check: CheckReport) -> list[str]:
    wrong = [] if check.rows == manifest.rows else ["rows"]
    if manifest.policy["suppressed"] == "keep" and check.suppressed_rows != manifest.suppressed_rows:
        wrong.append("suppressed_rows")
    for one in manifest.rules:
        told = one["measured"].get("k") if "unit" in one["measured"] else None
        if told is not None and check.k is not None and not _agrees(told, one["measured"]["unit"], check.k):
            wrong.append(f"{one['protocol']} · {one['rule']}")
    return wrong


def _agrees(told: int, unit: str, rows: int) -> bool:
    return told <= rows if unit == "persons" else told == rows


# --- rules ----------------------------------------------------------------------------------------


def _rules(
    held: Held, check: CheckReport | None, variables: tuple[Variable, ...], signatures: Sequence[Approval]
) -> tuple[tuple[RuleResult, ...], Finding]:
    """Every rule of the release's protocols: measured again where the file answers it, else as it was attested."""
    manifest = held.manifest
    try:
        told = rule_report_from({"format": "celosia/rules/1", "digest": "", "results": manifest.rules})
        rules = combined(manifest.protocols, _overrides(manifest))
        return _rules_again(held, told, rules, _context(held, check, variables, signatures))
    except _ODD:
        return (), Finding("rules", State.NOT_MEASURABLE)


def _rules_again(
    held: Held, told: RuleReport, rules: Sequence[Rule], context: RuleContext
) -> tuple[tuple[RuleResult, ...], Finding]:
    due = [rule for rule in rules if MEASURES[rule.measure].since <= Stage.RELEASE]
    wrong = _differing(due, told)
    again = judge_rules(context, [rule for rule in due if rule.needs in (Needs.FILE, Needs.PEOPLE)], "release")
    results = [_answered(one, again, rules, held.manifest) for one in told.results]
    signing = [rule for rule in rules if rule.measure == "signatures"]
    return (*results, *judge_rules(context, signing, "publish").results), Finding("rules", _state(not wrong), wrong)


def _overrides(manifest: Manifest) -> dict[str, dict[str, Any]]:
    made: dict[str, dict[str, Any]] = {}
    for one in manifest.overrides:
        made.setdefault(one["protocol"], {})[one["rule"]] = {"asked": one["asked"], "reason": one["reason"]}
    return made


def _differing(rules: Sequence[Rule], told: RuleReport) -> tuple[str, ...]:
    """Rules that the manifest leaves out, adds, or asks otherwise than the norm and the stated overrides do."""
    wanted = {(r.protocol, r.id): (_listed(r.asked), r.severity, r.needs, r.overridden) for r in rules}
    found = {(r.protocol, r.rule): (_listed(r.asked), r.severity, r.needs, r.overridden) for r in told.results}
    keys = {key for key in {*wanted, *found} if wanted.get(key) != found.get(key)}
    return tuple(sorted(f"{protocol} · {rule}" for protocol, rule in keys))


def _listed(asked: Mapping[str, Any]) -> dict[str, Any]:
    return {key: list(value) if isinstance(value, tuple) else value for key, value in asked.items()}


def _context(
    held: Held, check: CheckReport | None, variables: tuple[Variable, ...], signatures: Sequence[Approval]
) -> RuleContext:
    plan = plan_of_manifest(held.manifest)
    stated = held.manifest.policy.get("scenarios", ())
    scenarios = [Scenario(tuple(one["variables"]), Fraction(one["threshold"])) for one in stated]
    figures = None
    if check is not None:
        scratch = own_folder(Path(tempfile.gettempdir()), SPILL)
        try:
            figures = published_figures(held.folder / "data.csv", plan, variables, scenarios, None, scratch, check.rows)
        finally:
            _remove(scratch)
    return RuleContext(
        published=variables, plan=plan, check=check, figures=figures, signatures=signatures,
        people=tuple(Person(str(p["name"]), tuple(p["roles"]), str(p["key"])) for p in held.manifest.people),
        approvals=_covering(held),
    )  # fmt: skip


def _covering(held: Held) -> dict[str, list[Approval]]:
    """The approvals of the manifest that are right and cover what is here, by what they cover."""
    digests = {**held.manifest.covered, "candidate": held.manifest.files.get("data.csv")}
    found: dict[str, list[Approval]] = {}
    for one in held.approvals:
        if _rightly_signed(one, held.manifest) and one.digest == digests.get(one.what):
            found.setdefault(one.what, []).append(one)
    return found


def _answered(told: RuleResult, again: RuleReport, rules: Sequence[Rule], manifest: Manifest) -> RuleResult:
    """A rule as the release shows it: measured from the file, or attested with the figures that were signed."""
    found = next((one for one in again.results if (one.protocol, one.rule) == (told.protocol, told.rule)), None)
    if found is None:
        return replace(told, state=State.ATTESTED) if told.state is State.HOLDS else told
    measure = next(rule.measure for rule in rules if (rule.protocol, rule.id) == (told.protocol, told.rule))
    if manifest.policy.get("counted") == "persons" and measure in _PERSONAL and found.state is State.HOLDS:
        return replace(told, state=State.ATTESTED) if told.state is State.HOLDS else told
    return found
