"""`python -m bench [names]`: runs the benches and writes build/bench/report.json and report.html.

    python -m bench tuples search --small     two of them, small, to see that they work
    python -m bench --record                  all, and keeps the ratios in bench/history
    python -m bench record                    keeps those of the report that is there
    python -m bench page                      makes the page again from the report that is there

Exit code 1 where a bench failed or a ratio became more than a quarter worse than the last recorded one.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console

from bench.frame import Scale
from bench.history import History, history_for, read_records, write_record
from bench.machine import busy, commit, machine_facts
from bench.report import FORMAT, Circumstances, failed, report_of
from bench.running import REPOSITORY, BenchResult, Say, run_bench
from bench.terminal import print_report

FOLDER = Path(__file__).resolve().parent
INTO = REPOSITORY / "build" / "bench"


def main(arguments: Sequence[str], now: datetime) -> int:
    """Run, write, compare; or only record or draw what is there."""
    asked = _parsed(arguments)
    if asked.names in (["record"], ["page"]):
        return _again(asked.names[0], asked.into)
    found = {path.stem.removeprefix("bench_"): f"bench.{path.stem}" for path in sorted(FOLDER.glob("bench_*.py"))}
    unknown = set(asked.names) - set(found)
    if unknown:
        print(f"unknown: {', '.join(sorted(unknown))}; there are: {', '.join(found)}", file=sys.stderr)
        return 2
    modules = {name: found[name] for name in asked.names or found}
    report = _run(modules, Scale(asked.small, tuple(asked.rows)), asked, now)
    print_report(report, Console(soft_wrap=True))
    print(f"{asked.into / 'report.html'}")
    if asked.record:
        print(write_record(report))
    return int(failed(report))


def write_report(report: dict[str, Any], into: Path) -> None:
    """The document and its page."""
    from bench.page import page_of

    into.mkdir(parents=True, exist_ok=True)
    (into / "report.json").write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", "utf-8")
    (into / "report.html").write_text(page_of(report), "utf-8")


def run_modules(
    modules: dict[str, str], scale: Scale, repeats: int | None, history: History, say: Say
) -> Iterator[BenchResult]:
    """Each bench in turn; one that cannot even be read has failed, and the others go on."""
    for name, module in modules.items():
        say(f"== {name}")
        try:
            bench = importlib.import_module(module).BENCH
        except (ImportError, AttributeError, SyntaxError) as wrong:
            yield BenchResult(name, "", (), f"cannot be read: {type(wrong).__name__}: {wrong}")
            continue
        yield run_bench(bench, scale, repeats, history.worse, say)


def _run(modules: dict[str, str], scale: Scale, asked: argparse.Namespace, now: datetime) -> dict[str, Any]:
    """All of them; the report is written after each, so that an hour is not lost with the last bench."""
    machine, small = machine_facts(), scale.small
    history, others, at = history_for(read_records(), machine, small), [busy()], commit()
    results: list[BenchResult] = []
    report: dict[str, Any] = {}
    for result in run_modules(modules, scale, asked.repeats, history, lambda line: print(line, flush=True)):
        results.append(result)
        others.append(busy())
        report = report_of(results, Circumstances(now, at, machine, others, small), history)
        write_report(report, asked.into)
    return report


def _again(verb: str, into: Path) -> int:
    """Record or draw a report made before."""
    report = json.loads((into / "report.json").read_text("utf-8"))
    if report["format"] != FORMAT:
        print(f"{into / 'report.json'} is not {FORMAT}", file=sys.stderr)
        return 2
    if verb == "record":
        print(write_record(report))
    else:
        write_report(report, into)
    return 0


def _parsed(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench")
    parser.add_argument("names", nargs="*", help="benches to run, all without; or `record` or `page`")
    parser.add_argument("--small", action="store_true", help="tiny sizes, to see that everything works")
    parser.add_argument("--rows", type=_counts, default=(), help="other sizes: 100000,1000000")
    parser.add_argument("--repeats", type=int, help="rounds of each case, instead of three, two or one by its length")
    parser.add_argument("--record", action="store_true", help="keep the ratios in bench/history")
    parser.add_argument("--into", type=Path, default=INTO, help="where the report goes")
    return parser.parse_args(arguments)


def _counts(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(","))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], datetime.now(UTC)))
