"""MEL's walk: what may not be applied, contrasted or delivered yet."""

from __future__ import annotations

from celosia.errors._tree import BadInput, Refusal


class NotApproved(Refusal):
    """Something would be applied that nobody approved, or that changed after the approval."""

    fields = ("what", "command")


class AnnotatedDictionaryFaulty(Refusal):
    """Lines of the annotated dictionary do not follow the protocol."""

    fields = ("count", "faults")


class NothingToDeliver(Refusal):
    """There is no release whose base could be delivered."""

    fields = ("path",)


class DeliveryDamaged(BadInput):
    """The delivery is not as it was made."""

    fields = ("path", "file")
