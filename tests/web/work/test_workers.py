"""Operations in processes of their own: plain values, errors as sentences, and a kill that leaves the project."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from celosia.web.errors import WorkStopped
from celosia.web.work.workers import Call, OperationFailed, Pool, Worker, internal_fault
from celosia.workbench.operation import PACKAGE, find_operation, operation_key
from celosia.workbench.operations.projects import source_view, status
from celosia.workbench.operations.search import search_plan
from celosia.workbench.operations.stats import run_now
from tests.projects.every_page import file_digests
from tests.projects.survey import PLANTED, make_project
from tests.web.threads import run

pytestmark = pytest.mark.web


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    made = Worker()
    yield made
    made.stop()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path / "p")


HIDDEN = (
    "",
    "status",
    "os:system",
    f"{PACKAGE}.nada:status",
    f"{PACKAGE}.projects:nada",
    f"{PACKAGE}.projects:Path",
    f"{PACKAGE}.projects:status.__class__",
    "celosia.workbench.accounts:add_account",
    "celosia.pipeline.release.status:status",
)


@pytest.mark.parametrize("name", HIDDEN)
def test_only_registered_operations_can_be_called(name: str) -> None:
    with pytest.raises(LookupError):
        find_operation(name)


def test_an_operation_is_found_by_its_module_and_name() -> None:
    assert find_operation(operation_key(status)).function is status
    assert Call.to(run_now, Path("p")).operation == f"{PACKAGE}.stats:run_now"
    assert (Call.to(run_now, Path("p")).label, Call.to(status, Path("p")).label) == ("stats.run_now", "status")


def test_an_operation_answers_from_another_process(worker: Worker, project: Path) -> None:
    assert worker.call(Call.to(status, project)).gates


@pytest.mark.parametrize(("language", "words"), [("es", "no es un proyecto"), ("en", "is not a celosia project")])
def test_an_error_is_a_sentence_in_the_language_of_the_caller(worker: Worker, language: str, words: str) -> None:
    with pytest.raises(OperationFailed) as raised:
        worker.call(Call.to(source_view, Path("/nada/de/nada")).on_behalf(language, ""))
    assert words in str(raised.value)


def test_a_fault_of_our_own_shows_no_word_of_the_exception(worker: Worker) -> None:
    """A table as a folder: whatever the exception quotes stays in the process."""
    with pytest.raises(OperationFailed) as raised:
        worker.call(Call(operation_key(status), (PLANTED,), {PLANTED: PLANTED}))
    assert raised.value.failure.code == "internal_fault"
    assert PLANTED not in str(raised.value)
    assert "TypeError" in str(raised.value)


def test_the_place_of_a_fault_names_file_line_and_kind_alone() -> None:
    with pytest.raises(ValueError, match=PLANTED) as raised:
        raise ValueError(PLANTED)
    place = internal_fault(raised.value).values["where"]
    assert place.startswith("test_workers.py:")
    assert place.endswith(" ValueError")


def test_a_worker_that_dies_in_the_middle_says_so_and_the_project_stays(project: Path) -> None:
    made, before, reported = Worker(), file_digests(project), threading.Event()
    process = made._process

    def on_progress(stage: str, share: float) -> None:
        if not reported.is_set():
            reported.set()
            os.kill(process.pid or 0, signal.SIGKILL)

    with pytest.raises(WorkStopped) as raised:
        made.call(Call.to(search_plan, project), on_progress)
    made.stop()
    assert reported.is_set()
    assert len(str(raised.value)) > 20
    assert file_digests(project) == before


def test_a_pool_outlives_a_worker_that_was_killed(project: Path) -> None:
    async def work() -> bool:
        pool = Pool(1)
        await pool.ask(Call.to(status, project))
        (only,) = pool._all
        os.kill(only._process.pid or 0, signal.SIGKILL)
        only._process.join()
        answer = await pool.ask(Call.to(status, project))
        pool.close()
        return bool(answer.gates) and only not in pool._all

    assert run(work())


def test_a_pool_asks_at_most_so_many_at_once_and_answers_all(project: Path) -> None:
    async def work() -> tuple[int, int]:
        pool = Pool(2)
        answers = await asyncio.gather(*(pool.ask(Call.to(status, project)) for _ in range(6)))
        processes = len(pool._all)
        pool.close()
        return len(answers), processes

    answers, processes = run(work())
    assert (answers, processes <= 2) == (6, True)


def test_an_asker_who_goes_away_leaves_no_answer_for_the_next(project: Path) -> None:
    """The wire of a call that nobody waits for any more is not given to somebody else."""

    async def work() -> object:
        pool = Pool(1)
        asking = asyncio.create_task(pool.ask(Call.to(search_plan, project)))
        await asyncio.sleep(0.3)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        answer = await pool.ask(Call.to(status, project))
        pool.close()
        return answer

    assert run(work()).gates


def test_a_pool_that_is_closed_leaves_no_process(project: Path) -> None:
    async def work() -> list[Worker]:
        pool = Pool(2)
        await pool.ask(Call.to(status, project))
        workers = list(pool._all)
        pool.close()
        return workers

    workers = run(work())
    assert workers
    assert not any(worker.alive for worker in workers)
