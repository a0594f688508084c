"""An explanation in words and as a page: what each variable costs, what would happen if, why nothing fits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from celosia import messages
from celosia.dossier.figures import criterion_text, limit_text, loss_text, metric_text
from celosia.dossier.frontier import frontier_plot, frontier_table
from celosia.dossier.page import render
from celosia.model.reports.explanation import Explanation, Frontier, Outcome, VariableCost

_BAR = 420  # pixels of the longest bar
_NOTHING = 1e-9  # prices below this are rounding


@dataclass(frozen=True, slots=True)
class _Bars:
    """One variable of the picture: lengths in pixels and what is written beside."""

    name: str
    own: float
    own_text: str
    price: float
    price_text: str


def explanation_sentences(explanation: Explanation) -> tuple[str, ...]:
    """The explanation in a few sentences, in the current language: what is worth reading aloud."""
    said = _miss_sentences(explanation) if explanation.miss is not None else _result_sentences(explanation)
    return (*said, *([] if explanation.complete else [messages.text("explain.stopped")]))


def explanation_page(explanation: Explanation, frontier: Frontier | None = None) -> str:
    """The explanation as one self-contained HTML page, with the frontier below it where there is one."""
    kinds = [kind for kind in ("without", "coarser", "finer", "beyond") if _has_alternative(explanation, kind)]
    return render(
        "explain.html.j2",
        explanation=explanation,
        sentences=explanation_sentences(explanation),
        bars=_bars(explanation),
        bar_width=_BAR,
        kinds=kinds,
        rows=[_alternatives(explanation, variable, kinds) for variable in explanation.variables],
        criteria=[(criterion_text(c.criterion, explanation.person_key), c.rows, c.alone) for c in explanation.criteria],
        frontier=frontier,
        plot=None if frontier is None else frontier_plot(frontier),
        table=None if frontier is None else frontier_table(frontier),
    )


def _result_sentences(explanation: Explanation) -> Iterator[str]:
    result, metric = explanation.result, explanation.metric
    yield messages.text(
        "explain.result",
        loss=loss_text(metric, result.loss or 0.0),
        metric=metric_text(metric),
        rows=result.suppressed_rows,
        share=messages.percent(result.suppressed_share),
        allowed=explanation.allowed_rows,
    )
    if not result.proved:
        yield messages.text("explain.unproved")
    if explanation.variables:
        yield _dearest_sentence(explanation.variables[0], metric)
    yield from _criterion_sentences(explanation)


def _dearest_sentence(dearest: VariableCost, metric: str) -> str:
    without, others = dearest.without, dearest.others_loss
    if dearest.price is None or without is None or without.loss is None or others is None or dearest.price <= _NOTHING:
        return messages.text("explain.no_price")
    figures = {"name": dearest.name, "without": loss_text(metric, without.loss), "others": loss_text(metric, others)}
    if dearest.loss is None:  # the metric does not look at variables: both are losses of the whole
        return messages.text("explain.dearest_whole", **figures)
    return messages.text("explain.dearest", **figures)


def _criterion_sentences(explanation: Explanation) -> Iterator[str]:
    if not explanation.criteria:
        return
    first = explanation.criteria[0]
    if first.rows == 0:
        yield messages.text("explain.forces_none")
        return
    words = criterion_text(first.criterion, explanation.person_key)
    yield messages.text("explain.forces", criterion=words, rows=first.rows, alone=first.alone)


def _miss_sentences(explanation: Explanation) -> Iterator[str]:
    miss = explanation.miss
    assert miss is not None
    yield messages.text(
        "explain.miss.nearest",
        rows=miss.suppressed_rows,
        share=messages.percent(explanation.result.suppressed_share),
        allowed=miss.allowed_rows,
        excess=miss.excess_rows,
    )
    yield from _criterion_sentences(explanation)
    yield messages.text(
        "explain.miss.limit",
        limit=limit_text(miss.smallest_limit),
        rows=miss.suppressed_rows,
        total=explanation.rows,
    )
    if miss.largest_k is not None:
        yield messages.text("explain.miss.largest_k", k=miss.largest_k)
    yield from _remedy_sentences(explanation)
    if not miss.proved:
        yield messages.text("explain.miss.unproved")


def _remedy_sentences(explanation: Explanation) -> Iterator[str]:
    """Each single variable whose absence or coarsening makes it fit; else the one that comes closest."""
    any_helps = False
    for variable in explanation.variables:
        for kind, outcome in (("without", variable.without), ("beyond", variable.beyond)):
            if outcome is not None and outcome.feasible:
                any_helps = True
                yield _remedy_sentence(kind, variable, outcome, explanation.metric)
    closest = explanation.variables[0]
    left = [o.suppressed_rows for o in (closest.without, closest.beyond) if o is not None]
    if left and not any_helps:
        yield messages.text("explain.miss.closest", name=closest.name, rows=min(left))


def _remedy_sentence(kind: str, variable: VariableCost, outcome: Outcome, metric: str) -> str:
    loss = loss_text(metric, outcome.loss or 0.0)
    if kind == "without":
        return messages.text("explain.miss.without", name=variable.name, loss=loss, rows=outcome.suppressed_rows)
    return messages.text(
        "explain.miss.beyond", name=variable.name, height=variable.height, loss=loss, rows=outcome.suppressed_rows
    )


def _has_alternative(explanation: Explanation, kind: str) -> bool:
    return any(getattr(variable, kind) is not None for variable in explanation.variables)


def _bars(explanation: Explanation) -> list[_Bars]:
    """Bars to one scale; none when nothing fits."""
    if explanation.miss is not None:
        return []
    figures = [(v, v.loss or 0.0, max(v.price or 0.0, 0.0)) for v in explanation.variables]
    longest = max([max(own, price) for _, own, price in figures], default=0.0) or 1.0
    return [
        _Bars(
            v.name,
            own / longest * _BAR,
            _or_dash(v.loss, explanation.metric),
            price / longest * _BAR,
            _or_dash(v.price, explanation.metric),
        )
        for v, own, price in figures
    ]


def _or_dash(figure: float | None, metric: str) -> str:
    if figure is None:
        return messages.text("explain.none")
    return loss_text(metric, 0.0 if abs(figure) < _NOTHING else figure)


def _alternatives(explanation: Explanation, variable: VariableCost, kinds: list[str]) -> list[str]:
    metric = explanation.metric
    head = [
        variable.name,
        messages.text("explain.level_of", level=variable.level, height=variable.height),
        *([_or_dash(variable.others_loss, metric)] if explanation.miss is None else []),
    ]
    return head + [_outcome_text(getattr(variable, kind), metric) for kind in kinds]


def _outcome_text(outcome: Outcome | None, metric: str) -> str:
    if outcome is None:
        return messages.text("explain.none")
    share = messages.percent(outcome.suppressed_share)
    if outcome.loss is None:
        return messages.text("explain.cell_none", share=share)
    return messages.text("explain.cell", loss=loss_text(metric, outcome.loss), share=share)
