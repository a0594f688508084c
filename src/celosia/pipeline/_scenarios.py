"""Which risk scenarios apply: declared in celosia.toml, named in the request, or generated from the roles.

Knows names, roles and criteria. Ignores counts. Every name is checked against the table before anything is counted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from celosia import messages
from celosia.errors import CombinationTooWide, NoScenario, SettingOutsideScenario, TooManyScenarios, ValueOutOfRange
from celosia.model.scenarios import THRESHOLD, Scenario, threshold_of
from celosia.model.variables import Role
from celosia.pipeline._open import Opened
from celosia.pipeline._project import read_toml
from celosia.pipeline._settings import SCENARIO
from celosia.risk.scenarios import all_combinations

MOST_SCENARIOS = 50_000


@dataclass(frozen=True, slots=True)
class ScenarioRequest:
    """What a command or call asks for; nothing asked means the declared scenarios, or a first look at the roles."""

    scenarios: Sequence[str | Sequence[str] | Mapping[str, Any]] = ()
    all_combinations: int | None = None
    threshold: Any = None
    quasi: Sequence[str] = ()
    identifiers: bool = False

    @property
    def names_its_variables(self) -> bool:
        """Whether the roles of the variables need not be known."""
        return bool(self.quasi) or (bool(self.scenarios) and self.all_combinations is None)


def scenarios_for(found: Opened, request: ScenarioRequest) -> tuple[Scenario, ...]:
    """The scenarios of a request over an opened table, each once."""
    common = THRESHOLD if request.threshold is None else threshold_of(request.threshold)
    stated = [_scenario(data, common, "named") for data in request.scenarios] or _declared(found, common)
    for scenario in stated:
        _refuse_wrong_names(found, scenario)
    generated = _generated(found, request, common, bool(stated))
    kept: dict[tuple[frozenset[tuple[str, int]], Fraction], Scenario] = {}
    for scenario in (*stated, *generated):
        kept.setdefault((frozenset(scenario.columns), scenario.threshold), scenario)
    return tuple(kept.values())


def _scenario(data: str | Sequence[str] | Mapping[str, Any], common: Fraction, origin: str) -> Scenario:
    given: dict[str, Any] = dict(data) if isinstance(data, Mapping) else {"variables": data}
    if isinstance(given.get("variables"), str):
        given["variables"] = [name.strip() for name in given["variables"].split(",")]
    _refuse_wrong_keys(given)
    return Scenario(
        variables=tuple(given.get("variables", ())),
        threshold=threshold_of(given["threshold"]) if "threshold" in given else common,
        levels=dict(given.get("levels", {})),
        categories={name: tuple(values) for name, values in given.get("categories", {}).items()},
        origin=origin,
    )


def _refuse_wrong_keys(given: Mapping[str, Any]) -> None:
    for key, value in given.items():
        if key not in SCENARIO:
            raise ValueOutOfRange(parameter="scenario", given=key, allowed=", ".join(SCENARIO))
        if not SCENARIO[key].fits(value):
            raise ValueOutOfRange(parameter=key, given=value, allowed=SCENARIO[key].expected)


def _declared(found: Opened, common: Fraction) -> list[Scenario]:
    if found.folder is None:
        return []
    document = read_toml(found.folder / "celosia.toml")
    return [_scenario(data, common, "declared") for data in document.get("scenarios", [])]


def _refuse_wrong_names(found: Opened, scenario: Scenario) -> None:
    found.table.schema.chosen(scenario.variables, "--scenario")
    for name in (*scenario.levels, *scenario.categories):
        if name not in scenario.variables:
            raise SettingOutsideScenario(variable=name, scenario=", ".join(scenario.variables))


def _generated(found: Opened, request: ScenarioRequest, common: Fraction, stated: bool) -> Iterator[Scenario]:
    """All combinations up to the size asked for; with nothing said at all, everything together and every pair."""
    if request.all_combinations is None and stated:
        return iter(())
    names = _candidates(found, request)
    if not names:
        raise NoScenario()
    if request.all_combinations is not None:
        chosen = list(_all_of(names, request.all_combinations))
    else:
        chosen = [names, *(_all_of(names, 2) if len(names) > 1 else ())]
    return (Scenario(variables, common, origin="generated") for variables in chosen)


def _candidates(found: Opened, request: ScenarioRequest) -> tuple[str, ...]:
    """The variables to combine, in the order of the table: those named, or the quasi-identifiers of the dictionary."""
    roles = (Role.QUASI, Role.IDENTIFIER) if request.identifiers else (Role.QUASI,)
    by_role = [variable.name for variable in found.variables if variable.role in roles]
    if not request.quasi:
        return tuple(by_role)
    chosen = found.table.schema.chosen(request.quasi, "--quasi")
    direct = [v.name for v in found.variables if v.role == Role.IDENTIFIER and request.identifiers]
    return tuple(dict.fromkeys([*chosen, *direct]))


def _all_of(names: Sequence[str], widest: int) -> Iterator[tuple[str, ...]]:
    if isinstance(widest, bool) or not isinstance(widest, int) or widest < 2:
        allowed = messages.text("risk.accepted_size")
        raise ValueOutOfRange(parameter="--all-combinations", given=widest, allowed=allowed)
    if widest > len(names):
        raise CombinationTooWide(asked=widest, variables=len(names))
    many = sum(math.comb(len(names), size) for size in range(2, widest + 1))
    if many > MOST_SCENARIOS:
        raise TooManyScenarios(scenarios=many, limit=MOST_SCENARIOS)
    return all_combinations(names, widest)
