"""`release` and `sign`: a candidate that passed becomes a folder that may leave, assembled aside and moved in one step.

Knows what a release holds and what it may never hold: nothing private, no path, no seed, no time of day in its files.
Sources: MINSAL Verificación 4, Seguridad 5 and Anexo I; DESIGN §6.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from celosia import messages
from celosia.data.files import put_in_place, scratch_beside, writing_into
from celosia.errors import AlreadySigned, ReleaseDamaged, RulesFail, SamePerson, ValueOutOfRange
from celosia.model.people import Approval
from celosia.model.plan import Plan
from celosia.model.releases import Manifest
from celosia.model.requests import Request
from celosia.model.rules import RuleReport
from celosia.model.verdict import CheckReport
from celosia.pipeline import _journal, _steps
from celosia.pipeline._approve import approval_acts, digest_for, signature_over, valid_approvals
from celosia.pipeline._call import Place, moment
from celosia.pipeline._identity import Identity, is_signed
from celosia.pipeline._in_house import Judged, judge_candidate, refuse_changed, rules_on
from celosia.pipeline._keys import NONE, keys_present, label, refuse_pseudonyms
from celosia.pipeline._people import read_people, role_words, same_name
from celosia.pipeline._progress import Progress
from celosia.pipeline._project import Project, open_project, read_toml
from celosia.pipeline._release_files import FORMATS, Published, published_file, write_data, write_dictionary
from celosia.pipeline._release_folder import (
    MANIFEST,
    Held,
    added_text,
    listed_files,
    manifest_text,
    read_release,
    release_folder,
    releases_of,
)
from celosia.pipeline._signing import Act, note_missing, refuse_other, signing

RELEASED_FORMAT = "celosia/released/1"
_FILE, _FOLDER = 0o644, 0o755
_APPROVED = ("dictionary", "plan", "residual", "candidate")
_OWN = "outsider"  # whoever tried to break the candidate need not be named in public


@dataclass(frozen=True, slots=True)
class Released:
    """A release and where it stands."""

    folder: Path
    manifest: Manifest
    rules: RuleReport

    def as_dict(self) -> dict[str, Any]:
        """What was released, as its versioned JSON."""
        return {
            "format": RELEASED_FORMAT,
            "release": self.folder.name,
            "path": str(self.folder),
            "manifest": self.manifest.digest,
            "files": dict(self.manifest.files),
            "rows": self.manifest.rows,
            "suppressed_rows": self.manifest.suppressed_rows,
            "seed": self.manifest.seed,
            "label": self.manifest.label,
            "rules": self.rules.as_dict(),
        }


def make_release(
    folder: Place,
    *,
    formats: Sequence[str] = ("csv",),
    destroy_seed: bool = False,
    now: datetime | None = None,
    report: Progress = None,
) -> Released:
    """Judge the candidate once more and, if every rule holds, put a release in place: whole or not at all."""
    now = moment(now)
    for wanted in formats:
        if wanted not in FORMATS:
            raise ValueOutOfRange(parameter="formats", given=wanted, allowed=", ".join(FORMATS))
    found = judge_candidate(folder, report)
    refuse_changed(found)
    project = found.project
    refuse_pseudonyms(project.config.protocols, found.plan.steps, keys_present(project.folder))
    rules = rules_on(found, "release", **evidence_of(project.folder))
    refuse_failing(rules)
    with signing(project.folder):
        note_missing(project.journal_path, approval_acts(project.folder))  # what the release carries is in the journal
    home = releases_of(project.folder)
    with writing_into(home):
        home.mkdir(mode=_FOLDER, exist_ok=True)
    with scratch_beside(home / "release") as scratch, messages.speaking(project.config.language):
        draft = scratch / "release"
        manifest = _assembled(draft, found, rules, formats, now, destroy_seed)
        _settle(draft, now)
        target = _placed(draft, found, manifest, now)
    return Released(target, manifest, rules)


def evidence_of(folder: Path) -> dict[str, Any]:
    """What the rules need beyond the candidate: the closing evaluation and the contrast, where a protocol asks them."""
    from celosia.pipeline._rules import rules_of

    asked = {rule.measure for rule in rules_of(folder)}
    parts: dict[str, Any] = {}
    if "properties" in asked:
        from celosia.pipeline._closing import closing_results

        parts["closing"] = closing_results(folder)
    if "contrast" in asked:
        from celosia.pipeline._mel import contrast_results

        parts["contrast"] = contrast_results(folder)
    return parts


def refuse_failing(rules: RuleReport) -> None:
    """Stop where a compulsory rule fails or could not be measured, or where there is none at all."""
    from celosia.pipeline._rules import failing_text

    if not rules.holds:
        raise RulesFail(failing=failing_text(rules) or "–")


# --- what a release holds -------------------------------------------------------------------------


def _assembled(
    draft: Path, found: Judged, rules: RuleReport, formats: Sequence[str], now: datetime, destroyed: bool
) -> Manifest:
    """Everything of a release in a folder of its own, the manifest last."""
    with writing_into(draft):
        for part in (draft, draft / "dossier", draft / "signatures"):
            part.mkdir(mode=_FOLDER)
        shutil.copyfile(found.data, draft / "data.csv")
    with published_file(draft / "data.csv") as published:
        if published.digest != found.check.digest:  # changed between the judgement and the copy
            raise ReleaseDamaged(path=str(found.data), reason=messages.text("release.reason.file"))
        write_dictionary(found.published, published, draft / "dictionary.csv")
        for wanted in formats:
            write_data(wanted, published, found.published, draft)
        references = references_of(found, published)
    _write_dossier(found.project.folder, draft / "dossier", now)
    manifest = _manifest(draft, found, rules, references, now, destroyed)
    with writing_into(draft):
        (draft / MANIFEST).write_text(manifest_text(manifest), "utf-8")
    return manifest


def _write_dossier(folder: Path, target: Path, now: datetime) -> None:
    """The public documents alone; the internal ones stay in private/."""
    from celosia.pipeline._documents import write_documents

    day = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)  # the hour is nobody's business
    write_documents(folder, "public", into=target, now=day)


def _manifest(
    draft: Path, found: Judged, rules: RuleReport, references: Mapping[str, Any], now: datetime, destroyed: bool
) -> Manifest:
    project, plan, check = found.project, found.plan, found.check
    document = read_toml(project.folder / "celosia.toml")
    kept = label(project.folder)
    return Manifest(
        project=project.config.name,
        created=now.date().isoformat(),
        language=project.config.language,
        protocols=project.config.protocols,
        version=version("celosia"),
        files=listed_files(draft),
        rows=check.rows,
        suppressed_rows=plan.suppressed_rows if plan.policy["suppressed"] == "drop" else check.suppressed_rows,
        policy=public_policy(plan, check, document.get("scenarios", ()), project.folder),
        plan=plan.digest,
        published=plan.published,
        followers={name: list(leaders) for name, leaders in plan.followers.items()},
        rules=tuple(_plain(result.as_dict()) for result in rules.results),
        references=references,
        seed=plan.seed if plan.seed == "none" else "destroyed" if destroyed else "kept",
        label="" if kept == NONE else kept,
        overrides=_overrides(document.get("overrides", {})),
        people=tuple(person.as_dict() for person in read_people(project.folder) if set(person.roles) != {_OWN}),
        approvals=tuple(one.as_dict() for what in _APPROVED for one in valid_approvals(project.folder, what)),
        covered=_covered(project.folder),
        journal=_journal.head(project.journal_path),
        about=_about(project.folder),
    )


def _covered(folder: Path) -> dict[str, str]:
    """What each kind of approval covers now, so that a release alone can tell an approval of something else."""
    found = {what: digest_for(folder, what) for what in ("dictionary", "plan", "candidate")}
    residual = [one.digest for one in valid_approvals(folder, "residual")]
    return found | ({"residual": residual[-1]} if residual else {})


def public_policy(plan: Plan, check: CheckReport, scenarios: Sequence[Any], folder: Path) -> dict[str, Any]:
    """What a second official needs to measure the file again: criteria and roles, no hierarchy and no path."""
    from celosia.pipeline._rule_context import declared_scenarios

    policy = {**plan.policy, "hierarchies": {}}
    policy["criteria"] = [_without_path(criterion) for criterion in policy["criteria"]]
    policy["counted"] = "rows" if check.k_persons is None else "persons"
    policy["scenarios"] = [
        {"variables": list(one.variables), "threshold": str(one.threshold)} for one in declared_scenarios(folder, plan)
    ] if scenarios else []  # fmt: skip
    if policy["links"]:
        policy["constant"] = plan.notes["households"]["constant"]
    return dict(_plain(policy))


def references_of(found: Judged, published: Published) -> dict[str, Any]:
    """The source's distributions that criteria compare with, where telling them tells of nobody (DESIGN §3).

    A value that the file hides from fewer rows than k would be told by the difference: then the whole distribution
    stays in the house, and the criterion is attested. Values that the file shows nowhere are told as one number.
    """
    told: dict[str, Any] = {}
    least = smallest_k(found.plan.policy)
    for name, source in found.marginals.items():
        shown = published.counts(name)
        hidden = {value: rows - shown.get(value, 0) for value, rows in source.items()}
        if all(rows == 0 or rows >= least for rows in hidden.values()) and set(shown) <= set(source):
            visible = {value: rows for value, rows in source.items() if value in shown}
            told[name] = {"counts": visible, "hidden": sum(source.values()) - sum(visible.values())}
    return told


def smallest_k(policy: Mapping[str, Any]) -> int:
    """The k that a policy asks for; 2 where it asks for none."""
    asked = [int(one["k"]) for one in policy["criteria"] if one.get("criterion") == "k"]
    return max(asked, default=2)


def _without_path(criterion: Mapping[str, Any]) -> dict[str, Any]:
    kept = dict(criterion)
    if "population" in kept:
        kept["population"] = Path(str(kept["population"])).name
    return kept


def _overrides(document: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    return tuple(
        {"protocol": name, "rule": rule, "asked": _plain(change.get("asked", {})), "reason": str(change["reason"])}
        for name, changes in document.items()
        for rule, change in changes.items()
    )


def _about(folder: Path) -> dict[str, Any]:
    """Title, source, period, contact and licence, as the request says; who asked for the data is not public."""
    if not (folder / "request.toml").is_file():
        return {}
    from celosia.pipeline._request import read_request

    return _public_part(read_request(folder))


def _public_part(request: Request) -> dict[str, Any]:
    wanted = ("name", "period_from", "period_until", "unit", "department")
    source = {key: str(request.source[key]) for key in wanted if request.source.get(key)}
    return {"title": request.title, "source": source, **{k: str(v) for k, v in request.publication.items() if v}}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain(one) for one in value]
    return {key: _plain(one) for key, one in value.items()} if isinstance(value, Mapping) else value


# --- putting it in place --------------------------------------------------------------------------


def _settle(draft: Path, now: datetime) -> None:
    """Plain modes, the day of the release as every file's time, and everything safely on the disk."""
    at = midnight(now)
    with writing_into(draft):
        for path in sorted(draft.rglob("*"), reverse=True):  # what lies inside first: a folder's time comes last
            path.chmod(_FOLDER if path.is_dir() else _FILE)
            os.utime(path, (at, at))
            sync(path)
        draft.chmod(_FOLDER)
        os.utime(draft, (at, at))


def _placed(draft: Path, found: Judged, manifest: Manifest, now: datetime) -> Path:
    """Move a release to its name, one at a time; the journal knows it before it is there, or nobody could sign it."""
    project = found.project
    with signing(project.folder):
        _journal.refuse_unwritable(project.journal_path)
        target = _free_name(releases_of(project.folder), now)
        facts = {"release": target.name, "manifest": manifest.digest, "candidate": found.check.digest}
        _journal.append(project.journal_path, "release", now, {**facts, "seed": manifest.seed})
        if manifest.seed == "destroyed":
            _steps.destroy_seed(project.folder)  # just before the move: no release says so of a seed that lives
        with writing_into(target.parent):
            os.rename(draft, target)
            sync(target.parent)
    return target


def _free_name(home: Path, now: datetime) -> Path:
    """The date of a release; another one of the same day gets -2, -3 and so on."""
    day = now.astimezone(UTC).date().isoformat()
    number = 1
    while (target := home / (day if number == 1 else f"{day}-{number}")).exists():
        number += 1
    return target


def midnight(now: datetime) -> float:
    """The day alone, as a file's time: the hour would tell when somebody worked."""
    day = now.astimezone(UTC)
    return datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()


def sync(path: Path) -> None:
    """Make sure that a file or folder is on the disk."""
    if path.is_dir() and os.name != "posix":
        return  # elsewhere a folder cannot be opened
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def add_to_release(release: Path, name: str, document: Mapping[str, Any], now: datetime) -> Path:
    """Add a small JSON file to a release in one step; its draft lies outside the release."""
    target = release / name
    with scratch_beside(release) as scratch:
        draft = scratch / target.name
        with writing_into(release):
            draft.write_text(added_text(document), "utf-8")
            os.utime(draft, (midnight(now), midnight(now)))
        put_in_place(draft, target, _FILE)
    with writing_into(release):
        os.utime(target.parent, (midnight(now), midnight(now)))
    return target


# --- signatures -----------------------------------------------------------------------------------


def sign_release(
    release: Place,
    project: Place | None,
    identity: Identity,
    role: str,
    note: str = "",
    *,
    expected: str | None = None,
    now: datetime | None = None,
) -> Approval:
    """Sign a release's manifest in one's own role, after making sure that its files are those it lists.

    `expected` is the digest of the manifest that the person was shown: another one is not signed.
    """
    place = Path(release)
    home = open_project(place.resolve().parent.parent if project is None else project)
    folder = release_folder(home.folder, place) if not place.is_dir() else place
    with signing(home.folder):
        return _sign(folder, home, identity, role, note, expected, moment(now))


def _sign(
    folder: Path, home: Project, identity: Identity, role: str, note: str, expected: str | None, now: datetime
) -> Approval:
    held = read_release(folder)
    refuse_other(messages.text("people.what.release"), expected, held.manifest.digest)
    wrong = (*held.changed, *held.added, *held.removed)
    if wrong:
        raise ReleaseDamaged(path=str(folder), reason=", ".join(wrong))
    refuse_unmade(home.journal_path, held)
    note_missing(home.journal_path, signature_acts(held))
    made = signature_over(home.folder, held.manifest.digest, identity, role, note, now)
    _refuse_clash(made, held)
    number = sum(path.name.startswith(f"{role}-") for path in (folder / "signatures").glob("*.json")) + 1
    _journal.refuse_unwritable(home.journal_path)
    add_to_release(folder, f"signatures/{role}-{number}.json", made.as_dict(), now)
    act = _act(made, held)
    _journal.append(home.journal_path, act.what, now, act.facts, who=act.who, why=act.why)
    return made


def _act(one: Approval, held: Held) -> Act:
    facts = {"release": held.folder.name, "manifest": held.manifest.digest, "role": one.role}
    return Act("sign", facts, one.name, one.note, one.when)


def signature_acts(held: Held) -> list[Act]:
    """The signatures of a release that count, as the journal should tell them."""
    return [_act(one, held) for one in _right(held)]


def _right(held: Held) -> list[Approval]:
    """The signatures that people of the release really gave."""
    names = {str(one.get("key")): str(one.get("name")) for one in held.manifest.people}
    given = [one for one in held.signatures if one is not None and one.digest == held.manifest.digest]
    return [
        one
        for one in given
        if one.key in names and same_name(names[one.key], one.name)
        if is_signed(one.signed_part(), one.signature, one.key)
    ]


def refuse_unmade(journal: Path, held: Held) -> None:
    """Stop at a folder that `release` never made: the journal of the project must name its very manifest."""
    if not made_name(journal, held) or held.manifest.journal not in _journal.digests(journal):
        raise ReleaseDamaged(path=str(held.folder), reason=messages.text("release.reason.unmade"))


def made_name(journal: Path, held: Held) -> str:
    """The name under which `release` made a release, whatever its folder is called now; empty where it did not."""
    made = [one.get("facts") for one in _journal.entries(journal) if one.get("what") == "release"]
    names = [facts.get("release") for facts in made if isinstance(facts, dict)
             if facts.get("manifest") == held.manifest.digest]  # fmt: skip
    return str(names[-1]) if names else ""


def _refuse_clash(made: Approval, held: Held) -> None:
    """Nobody signs twice in one role, and who executed does not verify (M31)."""
    earlier = [one for one in held.signatures if one is not None]
    if any(one.role == made.role and one.key == made.key for one in earlier):
        raise AlreadySigned(name=made.name, words=role_words(made.role), role=made.role)
    other = {"verifier": "executor", "executor": "verifier"}.get(made.role)
    for one in (*earlier, *held.approvals):
        if one.role == other and (one.key == made.key or same_name(one.name, made.name)):
            raise SamePerson(name=made.name)
