"""Whether the properties that were to be kept are still there.

Knows two samples and the properties chosen; exactly those are checked (ATENEA 4.2.1 and 4.2.5). A property is request
for as `mean` (every number), `mean:INCOME` (that variable), `correlation:A:B`, `model:Y~X1+X2` or `test:A:B`.
Totals and the like are held to a relative difference, shares and coefficients (which lie between -1 and 1) to an
absolute one, and a model or test to the same sign and the same significance. What cannot be measured has failed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from celosia.evaluation import statistics as _statistics
from celosia.evaluation.association import pearson
from celosia.evaluation.distances import aligned_shares
from celosia.evaluation.errors import UnknownProperty
from celosia.evaluation.models import independence, regression
from celosia.evaluation.sample import Sample
from celosia.evaluation.statistics import Numbers, Series, numbers_of, series_of, slope_sign
from celosia.model.reports.evaluation import PropertyCheck

TOLERANCE, ALPHA = 0.05, 0.05
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
DEFAULT = ("total", "mean", "variance")  # what ATENEA 4.2.5 names
_STATISTICS: Mapping[str, Callable[[Numbers], float | None]] = MappingProxyType(
    {
        "total": _statistics.total,
        "mean": _statistics.mean,
        "variance": _statistics.variance,
        "minimum": _statistics.minimum,
        "maximum": _statistics.maximum,
        "median": _statistics.median,
    }
)
PROPERTIES = (*_STATISTICS, "quantiles", "frequencies", "trend", "correlation", "model", "test")
_SHORT = {"min": "minimum", "max": "maximum", "correlations": "correlation", "totals": "total", "means": "mean"}
_SHORT |= {"quantile": "quantiles", "frequency": "frequencies", "significance": "model"}


@dataclass(frozen=True, slots=True)
class PropertyRequest:
    """A property, and the variables it is checked on; none: all that it applies to."""

    property: str
    variables: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PropertyRules:
    """How strictly properties are held."""

    tolerance: float = TOLERANCE
    own: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))  # by property
    alpha: float = ALPHA
    period: str | None = None
    must_apply: bool = True  # a property that no variable has is not kept

    def tolerance_of(self, name: str) -> float:
        """The tolerance of a property."""
        return self.own.get(name, self.tolerance)


def parse_property(words: str) -> PropertyRequest:
    """A property from how it is written; an unknown one is refused by its name."""
    name, _, rest = words.partition(":")
    name = _SHORT.get(name.strip(), name.strip())
    if name not in PROPERTIES:
        raise UnknownProperty(property=name, known=", ".join(PROPERTIES))
    if name == "model":
        outcome, _, terms = rest.partition("~")
        parts = [outcome, *terms.split("+")] if terms.strip() else []
    else:
        parts = rest.split(":") if rest else []
    variables = tuple(part.strip() for part in parts if part.strip())
    if (name == "model" and len(variables) < 2) or (name == "test" and len(variables) != 2):
        raise UnknownProperty(property=words, known=f"{name}:…")
    return PropertyRequest(name, variables)


def check_properties(
    before: Sample, after: Sample, requests: Sequence[PropertyRequest], names: Sequence[str], rules: PropertyRules
) -> tuple[PropertyCheck, ...]:
    """Exactly the requested properties, in their order."""
    checks: list[PropertyCheck] = []
    for request in requests:
        lines = _CHECKS[request.property](before, after, request, names, rules)
        nothing = PropertyCheck(request.property, "–", None, None, None, None, None, False, "nothing")
        checks += lines or ([nothing] if rules.must_apply else [])
    return tuple(checks)


def _numeric(sample: Sample, request: PropertyRequest, names: Sequence[str]) -> list[str]:
    if request.variables:
        return list(request.variables)
    return [name for name in names if sample.columns[name].numbers is not None]


def _statistic(
    before: Sample, after: Sample, request: PropertyRequest, names: Sequence[str], rules: PropertyRules
) -> list[PropertyCheck]:
    compute = _STATISTICS[request.property]
    return [
        _compare(request.property, name, compute(numbers_of(before, name)), compute(numbers_of(after, name)), rules)
        for name in _numeric(before, request, names)
    ]


def _quantiles(
    before: Sample, after: Sample, request: PropertyRequest, names: Sequence[str], rules: PropertyRules
) -> list[PropertyCheck]:
    checks = []
    for name in _numeric(before, request, names):
        first, second = numbers_of(before, name), numbers_of(after, name)
        for share in QUANTILES:
            pair = _statistics.quantile(first, share), _statistics.quantile(second, share)
            checks.append(_compare("quantiles", f"{name} {share:g}", *pair, rules))
    return checks


def _frequencies(
    before: Sample, after: Sample, request: PropertyRequest, names: Sequence[str], rules: PropertyRules
) -> list[PropertyCheck]:
    """The category whose share moved most; no category is named."""
    chosen = request.variables or tuple(name for name in names if before.columns[name].numbers is None)
    checks = []
    for name in chosen:
        p, q = aligned_shares(before, after, name)
        most = float(abs(p - q).max()) if len(p) else 0.0
        tolerance = rules.tolerance_of("frequencies")
        checks.append(PropertyCheck("frequencies", name, 0.0, most, most, None, tolerance, most <= tolerance))
    return checks


def _correlation(
    before: Sample, after: Sample, request: PropertyRequest, names: Sequence[str], rules: PropertyRules
) -> list[PropertyCheck]:
    chosen = _numeric(before, request, names)
    pairs = [(a, b) for i, b in enumerate(chosen) for a in chosen[:i]]
    return [
        _compare("correlation", f"{a} · {b}", _pearson(before, a, b), _pearson(after, a, b), rules, absolute=True)
        for a, b in pairs
    ]


def _pearson(sample: Sample, a: str, b: str) -> float | None:
    return pearson(sample.columns[a].values, sample.columns[b].values, sample.weights)


def _trend(
    before: Sample, after: Sample, request: PropertyRequest, names: Sequence[str], rules: PropertyRules
) -> list[PropertyCheck]:
    if rules.period is None:
        raise UnknownProperty(property="trend", known="trend --period …")
    chosen: list[str | None] = [name for name in _numeric(before, request, names) if name != rules.period]
    checks = []
    for name in chosen or [None]:
        first, second = (series_of(sample, rules.period, name) for sample in (before, after))
        checks.append(_same_trend(name or rules.period, first, second, rules.tolerance_of("trend")))
    return checks


def _same_trend(name: str, first: Series, second: Series, tolerance: float) -> PropertyCheck:
    """Same periods, same direction, and no period farther off than the tolerance."""
    gaps = [_relative(first[period], second.get(period)) for period in first]
    known = [abs(gap) for gap in gaps if gap is not None]
    worst = max(known, default=0.0) if len(known) == len(gaps) else None
    signs = slope_sign(first), slope_sign(second)
    passes = worst is not None and worst <= tolerance and signs[0] == signs[1] and set(first) == set(second)
    note = "" if worst is not None else "not_measurable"
    return PropertyCheck("trend", name, float(signs[0]), float(signs[1]), worst, worst, tolerance, passes, note)


def _model(
    before: Sample, after: Sample, request: PropertyRequest, names: Sequence[str], rules: PropertyRules
) -> list[PropertyCheck]:
    outcome, terms = request.variables[0], request.variables[1:]
    first, second = regression(before, outcome, terms), regression(after, outcome, terms)
    label = f"{outcome} ~ {' + '.join(terms)}"
    if first is None or second is None:
        return [PropertyCheck("model", label, None, None, None, None, None, False, "not_measurable")]
    return [
        _same_finding("model", f"{label}: {a.name}", a.coefficient, b.coefficient, (a.p_value, b.p_value), rules.alpha)
        for a, b in zip(first, second, strict=True)
    ]


def _test(
    before: Sample, after: Sample, request: PropertyRequest, names: Sequence[str], rules: PropertyRules
) -> list[PropertyCheck]:
    a, b = request.variables
    first, second = independence(before, a, b), independence(after, a, b)
    if first is None or second is None:
        return [PropertyCheck("test", f"{a} × {b}", None, None, None, None, None, False, "not_measurable")]
    return [_same_finding("test", f"{a} × {b}", first[0], second[0], (first[1], second[1]), rules.alpha)]


def _same_finding(
    kind: str, name: str, before: float | None, after: float | None, p_values: tuple[float, float], alpha: float
) -> PropertyCheck:
    """Same sign and same side of alpha; a category, which has no sign, is shown by its p-values."""
    if (before is None) != (after is None):  # a number in one file, a category in the other
        return PropertyCheck(kind, name, before, after, None, None, None, False, "not_measurable")
    same_side = (p_values[0] < alpha) == (p_values[1] < alpha)
    same_sign = before is None or after is None or math.copysign(1, before) == math.copysign(1, after)
    insignificant = p_values[0] >= alpha and p_values[1] >= alpha  # the sign of nothing is chance
    a, b = (before, after) if before is not None and after is not None else p_values
    note = "significant" if p_values[0] < alpha else "not_significant"
    passes = same_side and (same_sign or insignificant)
    return PropertyCheck(kind, name, a, b, b - a, _relative(a, b), None, passes, note if same_side else f"was_{note}")


def _compare(
    kind: str, name: str, before: float | None, after: float | None, rules: PropertyRules, *, absolute: bool = False
) -> PropertyCheck:
    """Held to a relative difference (from zero, only zero is the same), or to an absolute one."""
    tolerance = rules.tolerance_of(kind)
    if before is None or after is None:
        both = before is None and after is None
        return PropertyCheck(kind, name, before, after, None, None, tolerance, both, "not_measurable")
    relative = _relative(before, after)
    held_to = after - before if absolute else relative
    passes = held_to is not None and abs(held_to) <= tolerance
    return PropertyCheck(kind, name, before, after, after - before, relative, tolerance, passes)


def _relative(before: float, after: float | None) -> float | None:
    """Difference as a share of the first; equal values differ by none, whatever they are."""
    if after is None:
        return None
    if before == after:
        return 0.0
    return (after - before) / abs(before) if before else None


_Check = Callable[[Sample, Sample, PropertyRequest, Sequence[str], PropertyRules], list[PropertyCheck]]
_CHECKS: Mapping[str, _Check] = MappingProxyType(
    dict.fromkeys(_STATISTICS, _statistic)
    | {
        "quantiles": _quantiles,
        "frequencies": _frequencies,
        "correlation": _correlation,
        "trend": _trend,
        "model": _model,
        "test": _test,
    }
)
