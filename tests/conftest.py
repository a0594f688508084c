"""Fixtures and hooks of all tests: Spanish first, one server of each kind, and no silent skip."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.servers import icu_url, own_database, postgres_url, spark_cluster, spark_engine, under_ci

# Fixtures that every folder of tests shares.
__all__ = ["icu_url", "own_database", "postgres_url", "spark_cluster", "spark_engine", "under_ci"]

REPOSITORY = Path(__file__).resolve().parents[1]
SHARED = REPOSITORY.parent / "shared"

# Tests that need one of these run in one worker each, so that the whole suite starts one server of a kind.
ONE_WORKER = ("spark", "postgres", "web", "windows")


# Compiling a kernel on its first call takes seconds and a machine may be busy, so no example is timed; under CI the
# examples are the same on every run.
settings.register_profile(
    "celosia", deadline=None, derandomize=under_ci(), suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("celosia")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real public data; tests that need it are skipped, by name, where it is absent."""
    if not (SHARED / "data").is_dir():
        pytest.skip(f"needs the real public data in {SHARED}")
    return SHARED


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the repository."""
    return REPOSITORY


@pytest.fixture(autouse=True)
def _spanish_first(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    from celosia import messages

    for name in ("CELOSIA_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    messages.use("es")
    yield
    # Fixtures of a whole module are made before the next test begins.
    messages.use("es")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of one engine in one worker, before xdist reads the groups."""
    for item in items:
        for kind in ONE_WORKER:
            if item.get_closest_marker(kind) is not None:
                item.add_marker(pytest.mark.xdist_group(kind))


def _skipped_tests(config: pytest.Config) -> list[tuple[str, str]]:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    reports: Iterable[pytest.TestReport] = reporter.stats.get("skipped", []) if reporter else []
    return sorted((report.nodeid, _reason(report)) for report in reports)


def _reason(report: pytest.TestReport) -> str:
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return text.removeprefix("Skipped: ")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Under CI a skipped test is a failed run. The controller decides: workers have no reporter."""
    if under_ci() and session.exitstatus == pytest.ExitCode.OK and _skipped_tests(session.config):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Name every test that did not run, and why, where nobody can overlook it."""
    skipped = _skipped_tests(config)
    if not skipped:
        return
    verdict = "under CI this fails the run" if under_ci() else "these promises were NOT checked"
    terminalreporter.section(f"{len(skipped)} TESTS SKIPPED: {verdict}", sep="!", red=True, bold=True)
    for name, reason in skipped:
        terminalreporter.line(f"{name}\n    {reason}", red=True)
