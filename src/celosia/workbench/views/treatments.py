"""The treatments of a project as a form: declared steps, a form for each technique, proposals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Step = Mapping[str, Any]  # as celosia.toml holds it


@dataclass(frozen=True, slots=True)
class DeclaredStep:
    """A declared step with its name in words; one that cannot be understood says why."""

    step: Step
    title: str
    settings: Mapping[str, Any]
    fault: str = ""


@dataclass(frozen=True, slots=True)
class StepParameter:
    """One parameter of a technique and the kind of its field."""

    name: str
    kind: str  # flag, whole, number, text, their plurals, pairs or conditions
    meaning: str
    required: bool
    default: Any
    choices: tuple[str, ...] = ()
    minimum: float | None = None


@dataclass(frozen=True, slots=True)
class TechniqueForm:
    """What a technique asks for."""

    technique: str
    title: str
    summary: str
    parameters: tuple[StepParameter, ...]


@dataclass(frozen=True, slots=True)
class StepsView:
    """The declared steps in their order, the columns there are, and the forms."""

    digest: str  # of celosia.toml
    columns: tuple[str, ...]
    steps: tuple[DeclaredStep, ...]
    forms: tuple[TechniqueForm, ...]


@dataclass(frozen=True, slots=True)
class ProposedStep:
    """A treatment proposed for a variable, with its reason and what a person has to add."""

    variable: str
    title: str
    step: Step
    sentence: str
    needs: tuple[str, ...]
