"""`anonymize`: a frame goes in and an anonymous frame comes out, by the same plan that a project would make and run.

Knows the roles and the policy that the caller states. Ignores files: none is written. Nothing is asked that the caller
did not ask. Rows come back in the order of their published values, so that their order says nothing that the cells do
not; the frame is measured again before it is given back.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

from celosia import messages
from celosia.data.engines.lazy import LazyEngine
from celosia.data.frame_table import FrameTable, code_frame
from celosia.data.memory_table import MemoryTable
from celosia.model import dictionary
from celosia.model.plan import Plan
from celosia.model.variables import Variable
from celosia.model.verdict import CheckReport
from celosia.pipeline.assessment.frame_kinds import remember_frame_kind
from celosia.pipeline.candidate.check_file import SourceReference
from celosia.pipeline.candidate.run import apply_solution
from celosia.pipeline.frames.anonymized_frame import AnonymizedFrame, ProjectMaterial
from celosia.pipeline.frames.criteria import Limits, asked_criteria, policy_document
from celosia.pipeline.frames.recount import check_frame
from celosia.pipeline.frames.restore import Rows, frame_like
from celosia.pipeline.frames.roles import NamedColumns, describe_by_role, refuse_wrong_names, warn_of_doubtful
from celosia.pipeline.intake.open_table import OpenTable, describe_columns
from celosia.pipeline.planning.errors import NothingLeft
from celosia.pipeline.planning.given_hierarchies import (
    GivenHierarchies,
    proposed_descriptions,
    read_given_hierarchies,
)
from celosia.pipeline.planning.plan import drops_everybody, nearest_miss, plan_for, refuse_excess
from celosia.pipeline.planning.policy import policy_of
from celosia.pipeline.planning.search_input import SearchInput, build_search_input
from celosia.pipeline.planning.solution import Solution
from celosia.pipeline.planning.solve import solve
from celosia.pipeline.planning.steps import AfterSteps
from celosia.pipeline.project.arguments import Names, check_arguments
from celosia.pipeline.project.files import digest_of_bytes
from celosia.pipeline.project.progress import Progress
from celosia.solver.problem import NoSolution

F = TypeVar("F")


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A frame with its roles, policy and hierarchies, ready to be searched."""

    opened: FrameTable
    variables: tuple[Variable, ...]
    columns: NamedColumns
    document: Mapping[str, Any]
    given: GivenHierarchies
    dictionary_text: str

    @property
    def source(self) -> OpenTable:
        """The frame as what plans are made of."""
        return OpenTable(self.opened.table, self.opened.ingested.source, self.variables, self.columns.person, None)


@check_arguments
@remember_frame_kind
def anonymize(
    frame: F,
    *,
    quasi: Names,
    sensitive: Names = (),
    person: str | None = None,
    identifiers: Names = (),
    keep: Names = (),
    k: int | None = None,
    l: int | None = None,  # noqa: E741 - the letter of the criterion
    t: float | None = None,
    criteria: Sequence[Mapping[str, Any]] = (),
    max_suppression: float | str = 0,
    hierarchies: Mapping[str, Any] | None = None,
    levels: Mapping[str, int | tuple[int, int]] | None = None,
    method: Literal["full-domain", "recipe", "local", "cells"] = "full-domain",
    metric: str = "loss",
    mean: Literal["geometric", "arithmetic"] = "geometric",
    weights: Mapping[str, float] | None = None,
    order: Names = (),
    suppressed: Literal["keep", "drop"] = "keep",
    mask_sensitive: bool = False,
    reading: Literal["own", "wildcard"] = "own",
    partition: str | None = None,
    time_limit: float | None = None,
    purpose: str | None = None,
    report: Progress = None,
) -> AnonymizedFrame[F]:
    """The frame that loses least under what is asked, measured again before it is given back.

    `quasi` are generalised; `person` is the key in which k counts, and it and the `identifiers` are removed; `keep`
    are columns that leave as they are whatever they seem to be. `max_suppression` is the share of rows that may be
    suppressed: they show `*`, or leave with `suppressed="drop"`. `levels` fixes or bounds the level of a variable.
    """
    columns = NamedColumns(tuple(quasi), tuple(sensitive), person, tuple(identifiers), tuple(keep))
    limits = Limits(k, l, t, tuple(criteria), max_suppression)
    search: dict[str, Any] = {
        "method": method,
        "metric": metric,
        "mean": mean,
        "weights": weights,
        "suppressed": suppressed,
    }
    search |= {"mask_sensitive": mask_sensitive, "reading": reading, "time_limit": time_limit}
    search |= {"order": list(order) or None, "partition": partition}
    policy = {"criteria": asked_criteria(limits, columns.sensitive), "limit": limits.share, **search}
    with contextlib.closing(LazyEngine()) as lazy_engine:
        prepared = _prepare(frame, lazy_engine, columns, policy, (hierarchies or {}, levels or {}), purpose)
        return _search_and_apply(frame, prepared, report)


def _prepare(
    frame: object,
    lazy_engine: LazyEngine,
    columns: NamedColumns,
    policy: Mapping[str, Any],
    hierarchies: tuple[Mapping[str, Any], Mapping[str, Any]],
    purpose: str | None,
) -> _Prepared:
    opened = code_frame(frame, lazy_engine)
    refuse_wrong_names(columns, opened.table.schema)
    proposed, _ = describe_columns(opened.table, opened.ingested)
    variables, doubtful = describe_by_role(columns, proposed, purpose or messages.text("library.purpose"))
    warn_of_doubtful(doubtful)
    by_name = {variable.name: variable for variable in variables}
    given = read_given_hierarchies(hierarchies[0], opened.table, by_name)
    document = policy_document(policy, given.descriptions, hierarchies[1], columns.person)
    return _Prepared(opened, variables, columns, document, given, dictionary.dump(variables))


def _search_and_apply(frame: F, prepared: _Prepared, report: Progress) -> AnonymizedFrame[F]:
    source, given = prepared.source, prepared.given
    policy = policy_of(prepared.document, prepared.variables, ())
    search_input = build_search_input(source.table, source.variables, source.person, policy, given.tables)
    solution = solve(search_input, report)
    if isinstance(solution, NoSolution):
        raise nearest_miss(solution)
    if drops_everybody(policy, solution):
        raise NothingLeft()
    digests = source.source.digest, digest_of_bytes(prepared.dictionary_text.encode("utf-8"))
    plan = plan_for(*digests, AfterSteps(source, (), (), "none"), search_input, solution, {})
    refuse_excess(plan, policy, search_input.quasi.n_rows)
    made, rows = _apply(frame, prepared, search_input, plan, solution)
    check = _check(made, prepared, search_input, plan, rows)
    without = [name for name in policy.quasi if name not in given.descriptions]
    by_name = {variable.name: variable for variable in prepared.variables}
    proposed = proposed_descriptions(without, source.table, by_name)
    material = ProjectMaterial(frame, prepared.dictionary_text, prepared.document, given.tables, prepared.columns)
    return AnonymizedFrame(made, plan, check, proposed, material)


def _apply(frame: F, prepared: _Prepared, search_input: SearchInput, plan: Plan, solution: Solution) -> tuple[F, Rows]:
    """The published frame, and which row of the frame each of its rows was."""
    table = prepared.opened.table
    published = apply_solution(table, search_input, plan, solution, None)
    assert isinstance(published, MemoryTable)
    order = published.published_order(plan.published)
    rows = published.rows[order]
    changed = {}
    for name in plan.published:
        now, before = published.column(name).pick(order), table.column(name).pick(rows)
        if not (now.texts.equals(before.texts) and (now.codes == before.codes).all()):
            changed[name] = now.row_texts()
    made: F = frame_like(frame, table.names, plan.published, rows, changed)
    return made, rows


def _check(frame: object, prepared: _Prepared, search_input: SearchInput, plan: Plan, rows: Rows) -> CheckReport:
    sensitive = {name: replace(tuples, persons=None) for name, tuples in search_input.sensitive.items()}
    reference = SourceReference(
        search_input.quasi.n_rows, sensitive, search_input.sensitive_hierarchies, search_input.population, list
    )
    key = prepared.columns.person
    person = None if key is None else prepared.opened.table.column(key)
    return check_frame(frame, plan, reference, person, rows)
