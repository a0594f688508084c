"""A report as lines in a terminal: what is worse in red, what missed its goal in yellow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.text import Text


def ratio_text(ratio: float) -> str:
    """Three digits, without the powers of ten that nobody reads."""
    return f"{ratio:.0f}" if ratio >= 100 else f"{ratio:.3g}" if ratio >= 0.001 else f"{ratio:.5f}"


def amount_text(amount: float, of: str) -> str:
    """Seconds, memory or a plain number."""
    if of == "peak":
        return f"{amount / 2**20:,.0f} MB"
    return (
        f"{amount:,.3g} s"
        if of == "seconds" and amount < 100
        else f"{amount:,.0f} s"
        if of == "seconds"
        else f"{amount:,.4g}"
    )


def faster_text(figure: Mapping[str, Any]) -> str:
    """How many times less than the other, where it is less."""
    ratio = figure["ratio"]
    if figure["of"] != "seconds" or not ratio or ratio > 0.67:
        return ""
    return f"{'over ' if figure['bound'] else ''}{1 / ratio:,.{0 if ratio < 0.1 else 1}f}× faster"


def change_text(figure: Mapping[str, Any]) -> str:
    """The change since the record, in percent."""
    return "" if figure["change"] is None else f"{figure['change'] - 1:+.0%} since {figure['when']}"


def print_report(report: Mapping[str, Any], console: Console) -> None:
    """Every figure, then what to look at."""
    for bench in report["benches"]:
        console.print(Text(f"{bench['bench']}: {bench['title']}", style="bold"))
        for figure in bench["figures"]:
            console.print(figure_line(figure))
        for failure in bench["failures"]:
            console.print(Text(f"  FAILED {failure}", style="bold red"))
    for curve in report["curves"]:
        console.print(Text(f"growth of {curve['bench']}, {curve['series']}: rows^{curve['slope']:.2f}"))


def figure_line(figure: Mapping[str, Any]) -> Text:
    """One figure on one line."""
    name = f"  {figure['case']} | {figure['name']}: "
    if figure["ratio"] is None:
        return Text(f"{name}not measured: {figure['reason']}", style="dim")
    spread = f"({ratio_text(figure['least'])}–{ratio_text(figure['most'])})"
    words = [
        f"{'≤ ' if figure['bound'] else ''}{ratio_text(figure['ratio'])}× {figure['against']} {spread}",
        faster_text(figure),
        f"{amount_text(figure['ours'], figure['of'])}, peak {figure['peak'] / 2**20:,.0f} MB",
        "" if figure["goal"] is None else f"goal {ratio_text(figure['goal'])}: {_verdict(figure)}",
        change_text(figure),
    ]
    style = "bold red" if figure["worse"] else "yellow" if figure["reached"] is False else ""
    return Text(name + "; ".join(filter(None, words)), style=style)


def _verdict(figure: Mapping[str, Any]) -> str:
    return "reached" if figure["reached"] else "MISSED"
