"""What the hierarchies page holds while somebody works at it: the variable, the description on the page, the trial."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from nicegui import ui

from celosia.model.hierarchies import DRAFT, HierarchyForms, HierarchyList, HierarchyTrial
from celosia.web._frame import Desk
from celosia.web._widgets import word

# In the order in which they are offered; `groups` and `tree` of celosia.toml are both edited as a tree.
KINDS = (
    "default",
    "intervals",
    "mask",
    "order",
    "tree",
    "dates",
    "official",
    "frequency",
    "suppress",
    "identity",
    "file",
)


def kind_of(origin: str) -> str:
    """The kind that a hierarchy's origin belongs to on the page; a file is edited as a tree."""
    if origin in KINDS and origin != "file":
        return origin
    return "tree"


def seen(text: str) -> str:
    """A value or name as the page shows it: what cannot be seen, or turns other characters round, is a dot."""
    if not text:
        return word("web_hierarchies.empty")
    return "".join(character if character.isprintable() else "·" for character in text)


@dataclass(slots=True)
class TreeLook:
    """Which part of the tree is on the screen, and which of its members are marked."""

    level: int = 1
    contains: str = ""
    only_gaps: bool = False
    start: int = 0
    marked: set[str] = field(default_factory=set)
    name: str = ""


@dataclass(slots=True)
class Bench:
    """One reader's work on the hierarchies of a project."""

    desk: Desk
    variable: str = ""
    kind: str = "default"
    spec: dict[str, Any] = field(default_factory=dict)
    minimum: int | None = None
    maximum: int | None = None
    view: str = "groups"
    level: int = 1
    turn: int = 0  # questions asked so far: an answer to an older one is not shown over a newer
    acts: asyncio.Lock = field(default_factory=asyncio.Lock)  # what opens, replaces or writes a description, in turn
    look: TreeLook = field(default_factory=TreeLook)
    lines: dict[str, tuple[ui.element, ui.element]] = field(default_factory=dict)  # button and words of each variable
    # Filled as the page is built, before anybody can look at them.
    forms: HierarchyForms = field(init=False)
    listed: HierarchyList = field(init=False)
    trial: HierarchyTrial = field(init=False)
    list_box: ui.element = field(init=False)
    work_box: ui.element = field(init=False)
    levels_box: ui.element = field(init=False)
    bounds_box: ui.element = field(init=False)
    save_button: ui.element = field(init=False)
    export_button: ui.element = field(init=False)

    async def tried(self, verb: str, *args: Any, **kwargs: Any) -> HierarchyTrial | None:
        """The trial that a verb makes of the chosen variable; None when something newer was asked meanwhile."""
        self.turn += 1
        turn = self.turn
        trial: HierarchyTrial = await self.desk.ask(verb, self.desk.folder, self.variable, *args, **kwargs)
        return trial if turn == self.turn else None

    def described(self) -> tuple[str, dict[str, Any], int | None, int | None]:
        """The variable and all that is chosen for it, as it stands now."""
        return self.variable, deepcopy(self.spec), self.minimum, self.maximum

    def begin(self, trial: HierarchyTrial, keep_bounds: bool = False) -> None:
        """Take up a trial: what it was made from becomes the description on the page."""
        self.trial = trial
        self.kind = "tree" if trial.origin == DRAFT else kind_of(trial.origin)
        self.spec = {} if self.kind == "default" else _own(trial.origin, trial.spec)
        self.look = TreeLook()
        if not keep_bounds:
            self.minimum, self.maximum = trial.minimum, trial.maximum
        self.clip_bounds()

    def clip_bounds(self) -> None:
        """Bounds above the highest level are given up, and the level looked at stays one of them."""
        height = self.trial.height
        self.level = min(max(self.level, 0), height) or min(1, height)
        if not self.trial.levels:
            return
        if self.minimum is not None and self.minimum > height:
            self.minimum = None
        if self.maximum is not None and self.maximum > height:
            self.maximum = None


def _own(origin: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    """A description as it is given back to the verbs; a draft is named as such, not by its file."""
    if origin == DRAFT:
        return {"draft": True, **{key: value for key, value in spec.items() if key == "uncovered"}}
    return dict(spec)
