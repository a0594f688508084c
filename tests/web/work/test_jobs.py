"""Long work belongs to the server: one piece a project, told as it goes, stopped by a kill, ended whoever looks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from celosia.web.errors import ProjectBusy
from celosia.web.work.jobs import Job, Jobs
from celosia.web.work.workers import Call, Pool
from celosia.workbench.operation import operation_key
from celosia.workbench.operations.projects import status
from celosia.workbench.operations.search import search_plan
from tests.projects.every_page import file_digests
from tests.projects.survey import PLANTED, make_project
from tests.web.threads import run

pytestmark = pytest.mark.web


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path / "p")


def _with(work: Callable[[Jobs, Pool], Awaitable[Any]], most: int = 2) -> Any:
    async def whole() -> Any:
        pool = Pool()
        try:
            return await work(Jobs(pool, most), pool)
        finally:
            pool.close()

    return run(whole())


def _start(
    jobs: Jobs, project: Path, operation: Callable[..., None] = search_plan, language: str = "es", **kwargs: Any
) -> Job:
    return jobs.start(project, Call.to(operation, project, **kwargs).on_behalf(language, ""))


async def _until(holds: Callable[[], bool], seconds: float = 90) -> None:
    for _ in range(int(seconds / 0.02)):
        if holds():
            return
        await asyncio.sleep(0.02)
    raise AssertionError("it never came to hold")


def test_work_that_ends_well_leaves_its_result_in_the_project(project: Path) -> None:
    async def work(jobs: Jobs, pool: Pool) -> Job:
        job = _start(jobs, project)
        assert job.state == "waiting"
        await _until(lambda: job.ended)
        assert jobs.last(project) is job
        return job

    job = _with(work)
    assert (job.state, job.sentence) == ("done", "")
    assert job.stage != ""
    assert (project / "plan.json").is_file()


def test_a_project_has_one_piece_of_work_at_a_time(project: Path) -> None:
    async def work(jobs: Jobs, pool: Pool) -> str:
        job = _start(jobs, project)
        with pytest.raises(ProjectBusy) as raised:
            _start(jobs, project)
        await _until(lambda: job.ended)
        assert not _start(jobs, project).ended  # and the next one may begin
        return str(raised.value)

    assert project.name in _with(work)


def test_cancelled_work_leaves_the_project_as_it_was(project: Path) -> None:
    before = file_digests(project)

    async def work(jobs: Jobs, pool: Pool) -> Job:
        job = _start(jobs, project)
        await _until(lambda: job.stage != "" or job.ended)
        jobs.cancel(project)
        assert job.state == "cancelled"
        await _until(lambda: not jobs._tasks)
        assert not jobs._workers
        assert not pool._all
        return job

    job = _with(work)
    assert job.state == "cancelled"  # the end of its process is no news
    assert file_digests(project) == before


def test_work_is_cancelled_before_it_began(project: Path) -> None:
    async def work(jobs: Jobs, pool: Pool) -> Job:
        job = _start(jobs, project)
        jobs.cancel(project)
        await _until(lambda: not jobs._tasks)
        return job

    before = file_digests(project)
    assert _with(work).state == "cancelled"
    assert file_digests(project) == before


def test_the_work_after_a_cancelled_one_is_not_touched_by_it(project: Path) -> None:
    async def work(jobs: Jobs, pool: Pool) -> tuple[Job, Job]:
        first = _start(jobs, project)
        await _until(lambda: first.state == "running")
        jobs.cancel(project)
        second = _start(jobs, project)
        await _until(lambda: second.ended)
        return first, second

    first, second = _with(work)
    assert (first.state, second.state) == ("cancelled", "done")


def test_work_waits_where_enough_is_under_way(tmp_path: Path) -> None:
    projects = []
    for name in "ab":
        (tmp_path / name).mkdir()
        projects.append(make_project(tmp_path / name / "p"))

    async def work(jobs: Jobs, pool: Pool) -> list[str]:
        first, second = (_start(jobs, project) for project in projects)
        await _until(lambda: first.state == "running")
        seen = [second.state]
        await _until(lambda: first.ended and second.ended)
        return [*seen, first.state, second.state]

    assert _with(work, most=1) == ["waiting", "done", "done"]


@pytest.mark.parametrize(("language", "words"), [("es", "No existe"), ("en", "There is no file")])
def test_work_that_fails_says_why_in_the_language_of_who_began_it(project: Path, language: str, words: str) -> None:
    (project / "dictionary.csv").unlink()

    async def work(jobs: Jobs, pool: Pool) -> Job:
        job = _start(jobs, project, language=language)
        await _until(lambda: job.ended)
        return job

    job = _with(work)
    assert job.state == "failed"
    assert words in job.sentence


@pytest.mark.parametrize("language", ["es", "en"])
def test_work_whose_process_dies_says_so_in_the_language_of_who_began_it(project: Path, language: str) -> None:
    from celosia import messages
    from celosia.web.errors import WorkStopped

    async def work(jobs: Jobs, pool: Pool) -> Job:
        job = _start(jobs, project, language=language)
        await _until(lambda: job.stage != "" or job.ended)
        for worker in tuple(pool._all):
            worker._process.kill()
        await _until(lambda: job.ended)
        return job

    before = file_digests(project)
    job = _with(work)
    with messages.speaking(language):
        expected = str(WorkStopped())
    assert (job.state, job.sentence) == ("failed", expected)
    assert file_digests(project) == before


def test_a_fault_of_our_own_shows_no_word_of_the_exception(project: Path) -> None:
    async def work(jobs: Jobs, pool: Pool) -> Job:
        job = jobs.start(project, Call(operation_key(status), (project,), {PLANTED: PLANTED}))
        await _until(lambda: job.ended)
        return job

    job = _with(work)
    assert job.state == "failed"
    assert PLANTED not in job.sentence


def test_what_ended_can_be_put_away_and_what_runs_cannot(project: Path) -> None:
    async def work(jobs: Jobs, pool: Pool) -> None:
        job = _start(jobs, project)
        jobs.forget(project)
        assert jobs.last(project) is job
        jobs.cancel(project)
        jobs.forget(project)
        assert jobs.last(project) is None
        jobs.cancel(project)  # nothing to stop, nothing said

    _with(work)
