"""What a project holds at one moment, each part read on its own: a broken part is told and does not hide the others.

Knows where things are kept. Ignores gates. Nothing is measured again: `check` and `release` do that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from celosia import messages
from celosia.errors import CelosiaError
from celosia.model import dictionary
from celosia.model.people import Approval, Person
from celosia.model.plan import Plan
from celosia.model.requests import Request
from celosia.model.variables import Variable
from celosia.model.verdict import CheckReport
from celosia.pipeline import _journal
from celosia.pipeline._approve import approval_states, digest_for
from celosia.pipeline._claims import claims_path, read_claims
from celosia.pipeline._identity import is_signed
from celosia.pipeline._people import read_people
from celosia.pipeline._plan import dictionary_digest, read_plan
from celosia.pipeline._project import Project, open_project, read_toml
from celosia.pipeline._release_folder import MANIFEST, Held, read_release, releases_of
from celosia.pipeline._request import read_request, request_path
from celosia.pipeline._rule_context import RuleContext, published_variables, read_check
from celosia.pipeline._step_text import plain_step

_Part = TypeVar("_Part")


@dataclass(slots=True)
class Facts:
    """The parts of a project that could be read; `faults` says in words why another could not."""

    folder: Path
    project: Project | None = None
    variables: tuple[Variable, ...] | None = None
    request: Request | None = None
    plan: Plan | None = None
    check: CheckReport | None = None
    candidate: str = ""  # digest of the file that stands there and was checked
    people: tuple[Person, ...] = ()
    approvals: tuple[tuple[Approval, str], ...] = ()
    claims: Any = None
    journal: Sequence[Mapping[str, Any]] = ()
    releases: tuple[Held, ...] = ()
    faults: dict[str, str] = field(default_factory=dict)

    def read(self, part: str, reader: Callable[[], _Part], otherwise: _Part) -> _Part:
        """A part of the project, or what stands for its absence; why it could not be read is kept."""
        try:
            return reader()
        except CelosiaError as fault:
            self.faults[part] = str(fault)
        except OSError:
            self.faults[part] = messages.text("status.unreadable", part=part)
        return otherwise

    @property
    def release(self) -> Held | None:
        """The newest release that holds the present candidate."""
        held = [one for one in self.releases if one.manifest.files.get("data.csv") == self.candidate]
        return held[-1] if held and self.candidate else None

    @property
    def signatures(self) -> tuple[Approval, ...]:
        """The signatures over the newest release that are right."""
        if self.release is None:
            return ()
        keys = {person.key: person for person in self.people}
        digest = self.release.manifest.digest
        return tuple(
            one
            for one in self.release.signatures
            if one is not None and one.digest == digest and one.key in keys and one.role in keys[one.key].roles
            if is_signed(one.signed_part(), one.signature, one.key)
        )

    @property
    def stale(self) -> bool:
        """Whether dictionary, source or steps are no longer those that the plan was made from."""
        if self.plan is None or self.project is None:
            return False
        project = self.project
        none: list[Any] = []
        steps = self.read("celosia.toml", lambda: read_toml(project.folder / "celosia.toml").get("steps", none), none)
        declared = [dict(plain_step(step)) for step in steps]
        same = self.plan.source == project.config.source.digest and declared == [dict(s) for s in self.plan.steps]
        return not same or self.plan.dictionary != self.read("dictionary", lambda: dictionary_digest(project), "")

    def context(self) -> RuleContext:
        """What the rules about people and papers look at; nothing of the file is measured here."""
        lines = self.variables
        published = None
        if lines is not None:
            published = published_variables(lines, self.plan) if self.plan else dictionary.published(lines)
        valid: dict[str, list[Approval]] = {}
        for one, state in self.approvals:
            valid.setdefault(one.what, []).extend([one] if state == "valid" else [])
        return RuleContext(
            variables=lines,
            published=published,
            plan=self.plan,
            check=self.check,
            request=self.request,
            approvals=valid,
            people=self.people,
            claims=self.claims,
            signatures=self.signatures,
        )


def facts_of(folder: Path) -> Facts:
    """Everything of a project that can be read."""
    facts = Facts(folder)
    facts.project = facts.read("celosia.toml", lambda: open_project(folder), None)
    project = facts.project
    if project is None:
        return facts
    facts.variables = facts.read("dictionary", project.variables, None)
    if request_path(folder).is_file():
        facts.request = facts.read("request", lambda: read_request(folder), None)
    if (folder / "plan.json").is_file():
        facts.plan = facts.read("plan", lambda: read_plan(folder), None)
    facts.people = facts.read("people", lambda: read_people(folder), ())
    if not {"people", "dictionary"} & set(facts.faults):
        facts.approvals = facts.read("approvals", lambda: approval_states(folder), ())
    home = folder / "private" / "candidate"
    if home.is_dir():
        facts.check = facts.read("candidate", lambda: read_check(home), None)
        facts.candidate = facts.read("candidate", lambda: digest_for(folder, "candidate"), "")
    if claims_path(folder).is_file():
        facts.claims = facts.read("claims", lambda: read_claims(folder), None)
    if project.journal_path.is_file():
        facts.journal = facts.read("journal", lambda: _journal.entries(project.journal_path), ())
    facts.releases = _releases(facts)
    return facts


def _releases(facts: Facts) -> tuple[Held, ...]:
    home = releases_of(facts.folder)
    found = sorted(path for path in home.glob("*") if (path / MANIFEST).is_file()) if home.is_dir() else []
    read = [facts.read(f"releases/{path.name}", lambda path=path: read_release(path), None) for path in found]  # type: ignore[misc]
    return tuple(one for one in read if one is not None)
