"""A guided tour of one norm: its steps in order, where each is done, and how far a project has come.

`tour.toml` in a project's folder marks it as a tour (`celosia/tour/1`). The words of a step are in the catalogue.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

TOUR_FORMAT = "celosia/tour/1"
TOUR_VIEW_FORMAT = "celosia/tour-view/1"
TOUR_FILE = "tour.toml"


@dataclass(frozen=True, slots=True)
class TourStep:
    """One thing to do: the page it is done on, the section of the norm it teaches, and the check that sees it done."""

    id: str
    page: str
    section: str
    check: str
    roles: tuple[str, ...] = ("executor",)  # who does it
    another: bool = False  # needs somebody who is not the one who executes


@dataclass(frozen=True, slots=True)
class TourStanding:
    """A step and whether it is done."""

    step: TourStep
    done: bool


@dataclass(frozen=True, slots=True)
class TourView:
    """A tour as a project stands in it now; `commands` make the accounts with which its other people are practised."""

    norm: str
    steps: tuple[TourStanding, ...]
    commands: tuple[str, ...] = ()

    @property
    def current(self) -> int | None:
        """The place of the first step that is not done; None at the end."""
        return next((place for place, one in enumerate(self.steps) if not one.done), None)

    @property
    def done(self) -> int:
        """How many steps are done."""
        return sum(one.done for one in self.steps)

    def as_dict(self) -> dict[str, Any]:
        """The view as its versioned JSON."""
        return {
            "format": TOUR_VIEW_FORMAT,
            "norm": self.norm,
            "current": self.current,
            "steps": [{**asdict(one.step), "roles": list(one.step.roles), "done": one.done} for one in self.steps],
            "commands": list(self.commands),
        }
