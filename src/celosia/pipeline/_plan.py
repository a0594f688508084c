"""`plan`: find what to publish and write it down as plan.json; nothing is changed yet."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from celosia import messages
from celosia.data.files import reading_from, replacing
from celosia.errors import BadProjectFile, NoFeasiblePlan, NoPlan, NothingLeft, UnknownFormat
from celosia.model.plan import PLAN_FORMAT, Plan, Policy, digest_of, plan_from
from celosia.pipeline import _journal
from celosia.pipeline._call import Place, moment
from celosia.pipeline._ground import Ground, ground_of
from celosia.pipeline._hierarchies import published_detail
from celosia.pipeline._open import Opened, opened, settled_source
from celosia.pipeline._policy import policy_of
from celosia.pipeline._progress import Progress, ready_kernels
from celosia.pipeline._project import Project, open_project, read_toml
from celosia.pipeline._solve import PartsMissed, Solution, solve
from celosia.pipeline._steps import Stepped, stepped
from celosia.solver import NoSolution


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan and where it was written."""

    plan: Plan
    path: Path


def make_plan(
    folder: Place,
    *,
    now: datetime | None = None,
    report: Progress = None,
    engine: str | None = None,
    memory: str | None = None,
    **overrides: Any,
) -> Planned:
    """Find the release that loses least under the project's policy and write plan.json."""
    return plan_on_ground(folder, now, report, engine, memory, **overrides)[0]


def plan_on_ground(
    folder: Place, now: datetime | None = None, report: Progress = None, engine: str | None = None,
    memory: str | None = None, **overrides: Any,
) -> tuple[Planned, Ground]:  # fmt: skip
    """The plan, written, and the compressed source it was found on."""
    project, now = open_project(folder), moment(now)
    folder = project.folder
    ready_kernels(report)
    asked = {key: _plain(value) for key, value in overrides.items() if value is not None}
    with (
        opened(folder, engine=engine, memory=memory) as source,
        stepped(project, settled_source(source), fresh=True, report=report) as after,
    ):
        ground = ground_for(project, after.found, **asked)
        solution = solve(ground, report)
    path = folder / "plan.json"
    if isinstance(solution, NoSolution):
        path.unlink(missing_ok=True)  # an older plan answers another question: nothing may run it by mistake
        _journal.append(project.journal_path, "plan-refused", now, {"suppressed": solution.suppressed_rows})
        raise _nearest_miss(solution)
    if drops_everybody(ground.policy, solution):
        path.unlink(missing_ok=True)
        _journal.append(project.journal_path, "plan-refused", now, {"suppressed": ground.quasi.n_rows})
        raise NothingLeft()
    plan = plan_of(project, after, ground, solution, asked)
    allowed = math.floor(ground.policy.limit * ground.quasi.n_rows)
    if plan.suppressed_rows > allowed:
        path.unlink(missing_ok=True)
        hint = messages.text("plan.hint", limit=messages.percent(plan.suppressed_share))
        raise NoFeasiblePlan(suppressed=plan.suppressed_rows, allowed=allowed, hint=hint)
    _journal.refuse_unwritable(project.journal_path)
    with replacing(path, 0o644) as draft:
        draft.write_text(json.dumps(plan.as_dict(), ensure_ascii=False, indent=2) + "\n", "utf-8")
    _journal.append(project.journal_path, "plan", now, {"plan": plan.digest, "method": plan.method})
    return Planned(plan, path), ground


def drops_everybody(policy: Policy, solution: Solution) -> bool:
    """Whether no record would be left to publish."""
    return policy.suppressed == "drop" and bool(solution.published.suppressed.all())


def ground_for(project: Project, found: Opened, *, whole: bool = False, **overrides: Any) -> Ground:
    """The compressed source under the project's policy; `whole` where methods other than the policy's look at it."""
    policy = policy_for(project, found, **overrides)
    return ground_of(found.table, found.variables, found.person, policy, project.folder, whole=whole)


def policy_for(project: Project, found: Opened, **overrides: Any) -> Policy:
    """The project's policy on what was opened, which may have been through its steps."""
    document = read_toml(project.folder / "celosia.toml")
    return policy_of(document, found.variables, project.config.protocols, **overrides)


def read_plan(folder: Place) -> Plan:
    """The plan of a project."""
    path = Path(folder) / "plan.json"
    if not path.is_file():
        raise NoPlan(path=str(folder))
    try:
        document = json.loads(path.read_text("utf-8"))
        form = document.get("format", "?")
    except (ValueError, AttributeError):
        form = "?"
    if form != PLAN_FORMAT:
        raise UnknownFormat(path=str(path), found=str(form), expected=PLAN_FORMAT)
    try:
        return plan_from(document)
    except (KeyError, TypeError, ValueError):
        raise BadProjectFile(path=str(path), line="?") from None


def dictionary_digest(project: Project) -> str:
    """Digest of the dictionary's bytes."""
    path = project.dictionary_path
    with reading_from(path):
        return "sha256:" + hashlib.sha256(path.read_bytes()).hexdigest()


def policy_digest(policy: Policy) -> str:
    """Digest of a policy."""
    return digest_of(policy.as_dict())


def plan_of(project: Project, after: Stepped, ground: Ground, solution: Solution, asked: Mapping[str, Any]) -> Plan:
    """The plan that a solution makes; `asked` is what the command added to the project's policy."""
    rows = solution.tuples.rows
    suppressed = int(rows[solution.published.suppressed].sum())
    masked = {name: int(rows[mask].sum()) for name, mask in sorted(solution.masks.items())}
    return Plan(
        method=ground.policy.method,
        policy=ground.policy.as_dict(),
        source=project.config.source.digest,
        dictionary=dictionary_digest(project),
        published=ground.published,
        followers={name: list(leaders) for name, leaders in ground.followers.items()},
        levels=dict(solution.levels),
        loss=solution.loss,
        loss_definition=solution.metric,
        suppressed_rows=suppressed,
        suppressed_share=suppressed / ground.quasi.n_rows if ground.quasi.n_rows else 0.0,
        masked_sensitive=masked,
        classes=solution.classes,
        nodes=solution.nodes,
        nodes_checked=solution.nodes_checked,
        optimal=solution.optimal,
        bound=solution.bound,
        asked=dict(asked),
        steps=after.steps,
        changes=tuple(change.as_dict() for change in after.changes),
        seed=after.seed,
        notes={**solution.notes, "detail": _detail(after, ground, solution), "outcome": solution.outcome},
    )


def _detail(after: Stepped, ground: Ground, solution: Solution) -> dict[str, dict[str, str]]:
    """What the levels above 0 show, for people: a level is a number, «intervals of 20» is an answer."""
    variables, specs = {one.name: one for one in after.found.variables}, ground.policy.hierarchies
    return {
        name: published_detail(variables[name], specs.get(name), ground.hierarchies[name], level)
        for name, level in solution.levels.items()
        if level
    }


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _nearest_miss(miss: NoSolution) -> NoFeasiblePlan:
    if isinstance(miss, PartsMissed):
        hint = messages.text("scale.partition_hint", variable=miss.variable, parts=miss.parts, failing=miss.unsolved,
                             small=miss.small, limit=messages.percent(miss.suppressed_share))  # fmt: skip
        return NoFeasiblePlan(suppressed=miss.suppressed_rows, allowed=miss.allowed_rows, hint=hint)
    worst = max(miss.failing, key=lambda failing: failing.rows, default=None)
    hint = messages.text("plan.hint", limit=miss.suppressed_share) if worst is None else messages.text(
        "plan.hint_criterion",
        criterion=messages.text(f"plan.criterion.{worst.criterion.name}"),
        rows=worst.rows,
        limit=messages.percent(miss.suppressed_share),
    )  # fmt: skip
    return NoFeasiblePlan(suppressed=miss.suppressed_rows, allowed=miss.allowed_rows, hint=hint)
