"""The state of the hierarchies page while somebody edits: the variable, the description on the page, the trial."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Concatenate, ParamSpec

from nicegui import ui

from celosia.messages import text
from celosia.web.ui.context import PageContext
from celosia.workbench.views.hierarchies import DRAFT, HierarchyForms, HierarchyList, HierarchyTrial

P = ParamSpec("P")
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


def visible_text(value: str) -> str:
    """A value or name as the page shows it: what cannot be seen, or turns other characters round, is a dot."""
    if not value:
        return text("web_hierarchies.empty")
    return "".join(character if character.isprintable() else "·" for character in value)


@dataclass(slots=True)
class TreeCursor:
    """Which part of the tree is on the screen, and which of its members are marked."""

    level: int = 1
    contains: str = ""
    only_gaps: bool = False
    start: int = 0
    marked: set[str] = field(default_factory=set)
    name: str = ""


@dataclass(slots=True)
class HierarchyEditor:
    """One reader's edits of the hierarchies of a project."""

    page: PageContext
    variable: str = ""
    kind: str = "default"
    spec: dict[str, Any] = field(default_factory=dict)
    minimum: int | None = None
    maximum: int | None = None
    view: str = "groups"
    level: int = 1
    turn: int = 0  # questions asked so far: an answer to an older one is not shown over a newer
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)  # what opens, replaces or writes a description, in turn
    cursor: TreeCursor = field(default_factory=TreeCursor)
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

    async def try_with(
        self, operation: Callable[Concatenate[Path, str, P], HierarchyTrial], *args: P.args, **kwargs: P.kwargs
    ) -> HierarchyTrial | None:
        """The trial that an operation makes of the chosen variable; None when something newer was asked meanwhile."""
        self.turn += 1
        turn = self.turn
        trial = await self.page.ask(operation, self.page.folder, self.variable, *args, **kwargs)
        return trial if turn == self.turn else None

    def description(self) -> tuple[str, dict[str, Any], int | None, int | None]:
        """The variable and all that is chosen for it, as it is now."""
        return self.variable, deepcopy(self.spec), self.minimum, self.maximum

    def take(self, trial: HierarchyTrial, keep_bounds: bool = False) -> None:
        """Take up a trial: what it was made from becomes the description on the page."""
        self.trial = trial
        self.kind = "tree" if trial.origin == DRAFT else kind_of(trial.origin)
        self.spec = {} if self.kind == "default" else _own_spec(trial.origin, trial.spec)
        self.cursor = TreeCursor()
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


def _own_spec(origin: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    """A description as it is given back to the operations; a draft is named as such, not by its file."""
    if origin == DRAFT:
        return {"draft": True, **{key: value for key, value in spec.items() if key == "uncovered"}}
    return dict(spec)
