"""When a search may go part by part, and what to advise when the combinations of a table do not fit.

Knows policies. Ignores data. The parts are the groups of a quasi-identifier at one fixed level, so no class has rows
of two parts: the classes of the release are those of the parts, side by side.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from celosia import messages
from celosia.model.plan import Policy
from celosia.pipeline.planning.errors import PartitionNotPossible, SearchTooLarge
from celosia.pipeline.planning.pre_generalisation import allows_pre_generalisation
from celosia.tuples.errors import TooManyTuples

# A criterion holds for a union of disjoint classes when it judges each class by that class alone. These do: sizes in
# rows or persons (a person with rows in several parts counts in each class that holds one of them, as in any release)
# and counts of the sensitive values inside the class. t, delta and beta compare with a distribution over all rows,
# average risk, average size and both kinds of uniqueness add up all classes, and k-map counts in a table of its own: a
# part proves nothing about them. Loss does not add up either: the best levels of each part need not be the best of all
# together once every part must have the same ones, so nothing is claimed about the whole.
PROVED_IN_PARTS = ("k", "distinct_l", "entropy_l", "recursive_l", "alpha_k", "max_risk", "profitability")


def partition_obstacle(policy: Policy) -> str:
    """Why a policy cannot be searched part by part, in words; empty where it can."""
    for data in policy.criteria:
        if data["criterion"] not in PROVED_IN_PARTS:
            criterion = messages.text(f"plan.criterion.{data['criterion']}")
            return messages.text("scale.partition_criterion", criterion=criterion)
    if policy.method != "full-domain":
        return messages.text("scale.partition_method", method=policy.method)
    if policy.links:
        return messages.text("scale.partition_links", columns=", ".join(policy.links))
    return ""


def refuse_impossible_partition(policy: Policy) -> None:
    """Stop before searching where the union of the parts would prove nothing."""
    reason = partition_obstacle(policy) if policy.partition else ""
    if policy.partition and not reason and policy.minimum[policy.partition] != policy.maximum[policy.partition]:
        reason = messages.text("scale.partition_level")
    if reason:
        raise PartitionNotPossible(variable=policy.partition, reason=reason)


@contextlib.contextmanager
def advise_on_size(policy: Policy) -> Iterator[None]:
    """Say what this very policy can do when the combinations of its variables do not fit."""
    try:
        yield
    except TooManyTuples as full:
        figures = {name: full.values[name] for name in ("columns", "most", "largest")}
        raise SearchTooLarge(**figures, advice=_advice(policy)) from None


def _advice(policy: Policy) -> str:
    """Minimum levels where they shrink the table, then a partition where one would prove something."""
    free = [name for name in policy.quasi if not policy.minimum.get(name) and name != policy.partition]
    sentences = []
    if allows_pre_generalisation(policy) and free:
        sentences.append(messages.text("scale.advice_minimum", names=", ".join(free)))
    elif not allows_pre_generalisation(policy):
        sentences.append(messages.text("scale.advice_no_minimum"))
    reason = partition_obstacle(policy)
    if policy.partition:
        sentences.append(messages.text("scale.advice_finer_partition", variable=policy.partition))
    elif reason:
        sentences.append(messages.text("scale.advice_no_partition", reason=reason))
    else:
        sentences.append(messages.text("scale.advice_partition", names=", ".join(policy.quasi)))
    return " ".join(sentences)
