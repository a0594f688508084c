"""`release` and `sign`: a candidate that passed becomes a public folder, assembled apart and moved in one step.

Knows what a release holds and what it may never hold: nothing private, no path, no seed, no time of day in its files.
Sources: MINSAL Verificación 4, Seguridad 5 and Anexo I; DESIGN §6.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from celosia import messages
from celosia.drawing.typesetter import load_typst
from celosia.model.paths import SIGNATURES, ReleasePaths
from celosia.model.people import Approval
from celosia.model.plan import Plan, digest_of
from celosia.model.releases import Manifest
from celosia.model.requests import Request
from celosia.model.rules import RuleReport
from celosia.model.value_errors import ValueOutOfRange
from celosia.model.verdict import CheckReport
from celosia.pipeline.candidate.approvals import (
    approval_acts,
    digest_for,
    is_rightly_signed,
    roster_acts,
    signature_over,
    valid_approvals,
)
from celosia.pipeline.candidate.errors import SamePerson
from celosia.pipeline.candidate.mel import contrast_results
from celosia.pipeline.candidate.rule_context import declared_scenarios
from celosia.pipeline.candidate.rules import failing_text, rules_of
from celosia.pipeline.candidate.verifier_check import CheckedCandidate, recheck_candidate, refuse_changed, rules_on
from celosia.pipeline.planning import steps as _steps
from celosia.pipeline.project import journal as _journal
from celosia.pipeline.project.acts import Act, note_missing, refuse_other
from celosia.pipeline.project.arguments import PathArg, utc_now
from celosia.pipeline.project.folder import Project, ProjectArg, open_for_signing, open_project, signature_lock
from celosia.pipeline.project.identity import Identity
from celosia.pipeline.project.people import role_words, same_name
from celosia.pipeline.project.progress import Progress
from celosia.pipeline.project.pseudonym_keys import NONE, keys_present, pseudonym_label, refuse_pseudonyms
from celosia.pipeline.release.data_files import (
    FORMATS,
    PublishedTable,
    open_published_file,
    write_data,
    write_dictionary,
)
from celosia.pipeline.release.errors import AlreadySigned, ReleaseDamaged, RulesFail, SignerNotInRelease
from celosia.pipeline.release.folder import (
    ReleaseOnDisk,
    added_text,
    listed_files,
    manifest_text,
    read_release,
    release_folder,
)
from celosia.pipeline.release.forms import forms_folder, keep_forms, refuse_changed_forms, write_forms
from celosia.pipeline.release.project_state import state_text
from celosia.pipeline.release.signers import late_signatures, signature_act, wrong_dates
from celosia.storage import move, replace_file, set_mode, sync, temporary_folder_beside, translate_write_errors

RELEASED_FORMAT = "celosia/released/1"
_FILE, _FOLDER = 0o644, 0o755
_APPROVED = ("dictionary", "plan", "residual", "intruder", "findings", "candidate")


@dataclass(frozen=True, slots=True)
class ReleaseResult:
    """A release and its folder."""

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
            "otherwise_masked_rows": self.manifest.otherwise_masked_rows,
            "seed": self.manifest.seed,
            "label": self.manifest.label,
            "rules": self.rules.as_dict(),
        }


def make_release(
    folder: ProjectArg,
    *,
    formats: Sequence[str] = ("csv",),
    destroy_seed: bool = False,
    now: datetime | None = None,
    report: Progress = None,
) -> ReleaseResult:
    """Judge the candidate once more and, if every rule holds, put a release in place: whole or not at all."""
    now = utc_now(now)
    load_typst()  # the forms of a release are PDF too: said before the candidate is judged
    for data_format in formats:
        if data_format not in FORMATS:
            raise ValueOutOfRange(parameter="formats", given=data_format, allowed=", ".join(FORMATS))
    project = open_project(folder)
    entries = roster_acts(project)  # whoever approved must be who the signed roster says
    checked = recheck_candidate(project, report)
    refuse_changed(checked)
    refuse_pseudonyms(project.config.protocols, checked.plan.steps, keys_present(project))
    rules = rules_on(checked, "release", **collect_evidence(project))
    refuse_failing(rules)
    with signature_lock(project.folder):
        note_missing(
            project.paths.journal, [*entries, *approval_acts(project)]
        )  # what the release carries is in the journal
    home = project.paths.releases
    with translate_write_errors(home):
        home.mkdir(mode=_FOLDER, exist_ok=True)
    with temporary_folder_beside(home / "release") as scratch, messages.speaking(project.config.language):
        draft = scratch / "release"
        forms = _write_forms(project, rules, scratch / "forms", now)
        manifest = _assemble(draft, checked, rules, formats, now, destroy_seed, forms)
        _normalise_metadata(draft, now)
        target = _move_into_place(draft, scratch / "forms", checked, manifest, now)
    return ReleaseResult(target, manifest, rules)


def collect_evidence(project: Project) -> dict[str, Any]:
    """What the rules need beyond the candidate: the closing evaluation and the contrast, where a protocol asks them."""
    asked = {rule.measure for rule in rules_of(project)}
    parts: dict[str, Any] = {}
    if "properties" in asked:
        from celosia.pipeline.candidate.closing_evaluation import closing_evaluation

        parts["closing"] = closing_evaluation(project).results
    if "contrast" in asked:
        parts["contrast"] = contrast_results(project)
    return parts


def refuse_failing(rules: RuleReport) -> None:
    """Stop where a compulsory rule fails or could not be measured, or where there is none at all."""
    if not rules.holds:
        raise RulesFail(failing=failing_text(rules) or "–")


# --- what a release holds -------------------------------------------------------------------------


def _assemble(
    draft: Path,
    checked: CheckedCandidate,
    rules: RuleReport,
    formats: Sequence[str],
    now: datetime,
    destroyed: bool,
    forms: Mapping[str, str],
) -> Manifest:
    """Everything of a release in a folder of its own, the manifest last."""
    paths, data = ReleasePaths(draft), checked.candidate.data
    with translate_write_errors(draft):
        for part in (draft, paths.dossier, paths.signatures):
            part.mkdir(mode=_FOLDER)
        shutil.copyfile(data, paths.data)
        shutil.copyfile(checked.project.paths.roster, paths.roster)
    with open_published_file(paths.data) as published:
        if published.digest != checked.check.digest:  # changed between the judgement and the copy
            raise ReleaseDamaged(path=str(data), reason=messages.text("release.reason.file"))
        write_dictionary(checked.published, published, paths.dictionary)
        for data_format in formats:
            write_data(data_format, published, checked.published, draft)
        references = references_of(checked, published)
    _write_dossier(checked.project, draft.parent / "forms", paths.dossier, now)
    manifest = replace(_manifest(draft, checked, rules, references, now, destroyed), forms=forms)
    with translate_write_errors(draft):
        paths.manifest.write_text(manifest_text(manifest), "utf-8", newline="\n")
    return manifest


def _write_dossier(project: Project, forms: Path, target: Path, now: datetime) -> None:
    """The public documents alone, word by word those that are signed; the internal ones stay in private/."""
    from celosia.pipeline.release.documents import write_public_documents

    write_public_documents(project, forms, target, _start_of_day(now))


def _write_forms(project: Project, rules: RuleReport, folder: Path, now: datetime) -> dict[str, str]:
    """The sheet and the forms, before anybody signs: their digests stand in the manifest."""
    from celosia.pipeline.release.documents import forms_to_sign

    return write_forms(folder, forms_to_sign(project, rules, _start_of_day(now)), state_text(project.paths))


def _manifest(
    draft: Path,
    checked: CheckedCandidate,
    rules: RuleReport,
    references: Mapping[str, Any],
    now: datetime,
    destroyed: bool,
) -> Manifest:
    project, plan, check = checked.project, checked.plan, checked.check
    key_label = pseudonym_label(project)
    return Manifest(
        project=project.config.name,
        created=now.date().isoformat(),
        language=project.config.language,
        protocols=project.config.protocols,
        version=version("celosia"),
        files=listed_files(draft),
        rows=check.rows,
        suppressed_rows=check.suppressed_rows,
        otherwise_masked_rows=check.otherwise_masked_rows,
        policy=public_policy(plan, check, project),
        plan=plan.digest,
        published=plan.published,
        followers={name: list(determinants) for name, determinants in plan.followers.items()},
        rules=tuple(_json_value(result.as_dict()) for result in rules.results),
        references=references,
        seed=plan.seed if plan.seed == "none" else "destroyed" if destroyed else "kept",
        label="" if key_label == NONE else key_label,
        overrides=_overrides(project.settings.get("overrides", {})),
        approvals=tuple(approval.as_dict() for what in _APPROVED for approval in valid_approvals(project, what)),
        covered=_covered_digests(project),
        journal=_journal.read_journal(project.paths.journal).head,
        about=_request_facts(project.request),
    )


def _covered_digests(project: Project) -> dict[str, str]:
    """What each kind of approval covers now, so that a release alone can tell an approval of something else."""
    digests = {what: digest_for(project, what) for what in ("dictionary", "plan", "candidate")}
    if project.request is not None:
        digests["request"] = digest_of(project.request.as_dict())
    for what in ("residual", "intruder", "findings"):
        covered = [approval.digest for approval in valid_approvals(project, what)]
        digests |= {what: covered[-1]} if covered else {}
    return digests


def public_policy(plan: Plan, check: CheckReport, project: Project) -> dict[str, Any]:
    """What a second official needs to measure the file again: criteria and roles, no hierarchy and no path."""
    policy = {**plan.policy, "hierarchies": {}}
    policy["criteria"] = [_drop_path(criterion) for criterion in policy["criteria"]]
    policy["counted"] = "rows" if check.k_persons is None else "persons"
    scenarios = declared_scenarios(project, plan)
    policy["scenarios"] = [{"variables": list(s.variables), "threshold": str(s.threshold)} for s in scenarios]
    if policy["links"]:
        policy["constant"] = plan.notes["households"]["constant"]
    return dict(_json_value(policy))


def references_of(checked: CheckedCandidate, published: PublishedTable) -> dict[str, Any]:
    """The source's distributions that criteria compare with, where they disclose nobody (DESIGN §3).

    A value that the file hides from fewer rows than k would be disclosed by differencing: then the whole distribution
    is not published, and the criterion is attested. Values that the file shows nowhere are given as one number.
    """
    references: dict[str, Any] = {}
    least = asked_k(checked.plan.policy)
    for name, source in checked.marginals.items():
        shown = published.counts(name)
        hidden = {value: rows - shown.get(value, 0) for value, rows in source.items()}
        if all(rows == 0 or rows >= least for rows in hidden.values()) and set(shown) <= set(source):
            visible = {value: rows for value, rows in source.items() if value in shown}
            references[name] = {"counts": visible, "hidden": sum(source.values()) - sum(visible.values())}
    return references


def asked_k(policy: Mapping[str, Any]) -> int:
    """The k that a policy asks for; 2 where it asks for none."""
    asked = [int(criterion["k"]) for criterion in policy["criteria"] if criterion.get("criterion") == "k"]
    return max(asked, default=2)


def _drop_path(criterion: Mapping[str, Any]) -> dict[str, Any]:
    population = {"population": Path(str(criterion["population"])).name} if "population" in criterion else {}
    return {**criterion, **population}


def _overrides(document: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    return tuple(
        {"protocol": name, "rule": rule, "asked": _json_value(change.get("asked", {})), "reason": str(change["reason"])}
        for name, changes in document.items()
        for rule, change in changes.items()
    )


def _request_facts(request: Request | None) -> dict[str, Any]:
    """Title, source, period, contact and licence, as the request says; who asked for the data is not public."""
    if request is None:
        return {}
    public_keys = ("name", "period_from", "period_until", "unit", "department")
    source = {key: str(request.source[key]) for key in public_keys if request.source.get(key)}
    return {"title": request.title, "source": source, **{k: str(v) for k, v in request.publication.items() if v}}


def _json_value(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_json_value(item) for item in value]
    return {key: _json_value(item) for key, item in value.items()} if isinstance(value, Mapping) else value


# --- putting it in place --------------------------------------------------------------------------


def _normalise_metadata(draft: Path, now: datetime) -> None:
    """Plain modes, the day of the release as every file's time, and everything safely on the disk."""
    at = _start_of_day(now).timestamp()
    with translate_write_errors(draft):
        for path in sorted(draft.rglob("*"), reverse=True):  # what lies inside first: a folder's time comes last
            set_mode(path, _FOLDER if path.is_dir() else _FILE)
            os.utime(path, (at, at))
            sync(path)
        set_mode(draft, _FOLDER)
        os.utime(draft, (at, at))


def _move_into_place(draft: Path, forms: Path, checked: CheckedCandidate, manifest: Manifest, now: datetime) -> Path:
    """Move a release to its name, one at a time; its journal entry comes first, or nobody could sign it."""
    project = checked.project
    with signature_lock(project.folder):
        _journal.refuse_unwritable(project.paths.journal)
        target = _free_name(project.paths.releases, now)
        facts = {"release": target.name, "manifest": manifest.digest, "candidate": checked.check.digest}
        _journal.append_entry(project.paths.journal, "release", now, {**facts, "seed": manifest.seed})
        if manifest.seed == "destroyed":
            _steps.destroy_seed(project)  # just before the move: no release says so of a seed that lives
        keep_forms(forms, project.paths, target.name)
        move(draft, target)
        set_mode(target, _FOLDER)  # on Windows a folder keeps the access list of where it was made
        with translate_write_errors(target.parent):
            sync(target.parent)
    return target


def _free_name(home: Path, now: datetime) -> Path:
    """The date of a release; another one of the same day gets -2, -3 and so on."""
    day = now.astimezone(UTC).date().isoformat()
    number = 1
    while (target := home / (day if number == 1 else f"{day}-{number}")).exists():
        number += 1
    return target


def _start_of_day(now: datetime) -> datetime:
    """The day alone: the hour would say when somebody worked."""
    return now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def add_to_release(release: Path, name: str, document: Mapping[str, Any], now: datetime) -> Path:
    """Add a small JSON file to a release in one step."""
    return add_file_to_release(release, name, added_text(document).encode("utf-8"), now)


def add_file_to_release(release: Path, name: str, content: bytes, now: datetime) -> Path:
    """Add a file to a release in one step; its draft lies outside the release."""
    target, at = release / name, _start_of_day(now).timestamp()
    with temporary_folder_beside(release) as scratch:
        draft = scratch / target.name
        with translate_write_errors(release):
            draft.write_bytes(content)
            os.utime(draft, (at, at))
        replace_file(draft, target, _FILE)
    with translate_write_errors(release):
        os.utime(target.parent, (at, at))
    return target


# --- signatures -----------------------------------------------------------------------------------


def sign_release(
    release: PathArg,
    project: ProjectArg | None,
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
    path = Path(release)
    with open_for_signing(path.resolve().parent.parent if project is None else project) as home:
        folder = release_folder(home, path) if not path.is_dir() else path
        return _sign(folder, home, identity, role, note, expected, utc_now(now))


def _sign(
    folder: Path, home: Project, identity: Identity, role: str, note: str, expected: str | None, now: datetime
) -> Approval:
    release = read_release(folder)
    refuse_other(messages.text("people.what.release"), expected, release.manifest.digest)
    if release.differences:
        raise ReleaseDamaged(path=str(folder), reason=", ".join(release.differences))
    refuse_foreign_release(home, release)
    refuse_changed_forms(forms_folder(home.paths, name_in_journal(home, release)), release)
    note_missing(home.paths.journal, signature_acts(home, release))
    signature = signature_over(home, release.manifest.digest, identity, role, note, now)
    _refuse_clash(signature, release)
    refuse_unlisted(signature, release)
    if wrong := wrong_dates(release, [signature], now):
        raise ReleaseDamaged(path=str(folder), reason="; ".join(wrong))
    number = sum(path.name.startswith(f"{role}-") for path in ReleasePaths(folder).signatures.glob("*.json")) + 1
    _journal.refuse_unwritable(home.paths.journal)
    add_to_release(folder, f"{SIGNATURES}/{role}-{number}.json", signature.as_dict(), now)
    act = signature_act(signature, release)
    _journal.append_entry(home.paths.journal, act.what, now, act.facts, who=act.who, why=act.why)
    return signature


def signature_acts(project: Project, release: ReleaseOnDisk) -> list[Act]:
    """The signatures of a release that count, as the journal should tell them."""
    given = given_signatures(release)
    late = late_signatures(project, release, given)
    return [signature_act(signature, release) for signature in given if signature not in late]


def given_signatures(release: ReleaseOnDisk) -> list[Approval]:
    """The signatures that people of the release's own roster really gave."""
    own = [signature for signature in release.readable_signatures if signature.digest == release.manifest.digest]
    members = [signature for signature in own if release.is_members(signature) and release.is_current(signature)]
    return [signature for signature in members if is_rightly_signed(signature)]


def refuse_foreign_release(project: Project, release: ReleaseOnDisk) -> None:
    """Stop at a folder that `release` never made: the journal of the project must name its manifest."""
    if not name_in_journal(project, release) or release.manifest.journal not in project.journal.digests:
        raise ReleaseDamaged(path=str(release.folder), reason=messages.text("release.reason.unmade"))


def name_in_journal(project: Project, release: ReleaseOnDisk) -> str:
    """The name under which `release` made a release, whatever its folder is called now; empty where it did not."""
    entries = project.journal.facts("release")
    names = [facts.get("release") for facts in entries if facts.get("manifest") == release.manifest.digest]
    return str(names[-1]) if names else ""


def refuse_unlisted(signature: Approval, release: ReleaseOnDisk) -> None:
    """Nobody signs whom the release's roster does not name in that role: such a signature would void the release."""
    if not release.is_members(signature) or not release.is_current(signature):
        fields = {"name": signature.name, "words": role_words(signature.role), "role": signature.role}
        raise SignerNotInRelease(**fields, release=release.folder.name)


def _refuse_clash(signature: Approval, release: ReleaseOnDisk) -> None:
    """Nobody signs twice in one role, and who executed does not verify (M31)."""
    earlier = release.readable_signatures
    if any(previous.role == signature.role and previous.key == signature.key for previous in earlier):
        raise AlreadySigned(name=signature.name, words=role_words(signature.role), role=signature.role)
    other = {"verifier": "executor", "executor": "verifier"}.get(signature.role)
    for previous in (*earlier, *release.approvals):
        if previous.role == other and (previous.key == signature.key or same_name(previous.name, signature.name)):
            raise SamePerson(name=signature.name)
