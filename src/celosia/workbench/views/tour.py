"""A guided tour of one norm: its steps in order, where each is done, and how far a project has come.

`tour.toml` in a project's folder marks it as a tour (`celosia/tour/1`). The words of a step are in the catalogue.
"""

from __future__ import annotations

from dataclasses import dataclass

TOUR_FORMAT = "celosia/tour/1"


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
class TourProgress:
    """A step and whether it is done."""

    step: TourStep
    done: bool


@dataclass(frozen=True, slots=True)
class TourView:
    """A tour and how far a project is in it; `commands` make the accounts that practise its other roles."""

    norm: str
    steps: tuple[TourProgress, ...]
    commands: tuple[str, ...] = ()

    @property
    def current(self) -> int | None:
        """The place of the first step that is not done; None at the end."""
        return next((place for place, progress in enumerate(self.steps) if not progress.done), None)

    @property
    def done(self) -> int:
        """How many steps are done."""
        return sum(progress.done for progress in self.steps)
