"""Verbs in processes of their own: plain values to and fro, errors as sentences, and a kill that leaves the project."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.pipeline.small_project import PLANTED, make_project
from tests.web.made import state_of
from tests.web.threads import run

from celosia.errors import InternalFault, WorkStopped
from celosia.web._workers import Call, Failed, Pool, Worker, place_of, verb_named

pytestmark = pytest.mark.web


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    made = Worker()
    yield made
    made.stop()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path)


HIDDEN = ("_status", "os.system", "open_project.__class__", "nada", "stats._run", "__all__", "")


@pytest.mark.parametrize("name", HIDDEN)
def test_only_public_verbs_can_be_called(name: str) -> None:
    with pytest.raises((InternalFault, KeyError)):
        verb_named(name)


def test_a_public_verb_is_found() -> None:
    assert callable(verb_named("status"))
    assert callable(verb_named("stats.run_stats"))


def test_a_verb_answers_from_another_process(worker: Worker, project: Path) -> None:
    assert worker.call(Call("status", (project,))).gates


@pytest.mark.parametrize(("language", "words"), [("es", "no es un proyecto"), ("en", "is not a celosia project")])
def test_an_error_is_a_sentence_in_the_language_of_the_caller(worker: Worker, language: str, words: str) -> None:
    with pytest.raises(Failed) as raised:
        worker.call(Call("open_project", (Path("/nada/de/nada"),), language=language))
    assert words in str(raised.value)


def test_a_fault_of_our_own_shows_no_word_of_the_exception(worker: Worker) -> None:
    """A table as a folder: whatever the exception quotes stays in the process."""
    with pytest.raises(Failed) as raised:
        worker.call(Call("status", (PLANTED,), {PLANTED: PLANTED}))
    assert raised.value.told.code == "internal_fault"
    assert PLANTED not in str(raised.value)
    assert "TypeError" in str(raised.value)


def test_the_place_of_a_fault_names_file_line_and_kind_alone() -> None:
    with pytest.raises(ValueError, match=PLANTED) as raised:
        raise ValueError(PLANTED)
    place = place_of(raised.value)
    assert place.startswith("test_workers.py:")
    assert place.endswith(" ValueError")


def test_a_worker_that_dies_in_the_middle_says_so_and_the_project_stays(project: Path) -> None:
    made, before, said = Worker(), state_of(project), threading.Event()
    process = made._process

    def heard(stage: str, share: float) -> None:
        if not said.is_set():
            said.set()
            os.kill(process.pid or 0, signal.SIGKILL)

    with pytest.raises(WorkStopped) as raised:
        made.call(Call("make_plan", (project,)), heard)
    made.stop()
    assert said.is_set()
    assert len(str(raised.value)) > 20
    assert state_of(project) == before


def test_a_pool_outlives_a_worker_that_was_killed(project: Path) -> None:
    async def work() -> bool:
        pool = Pool(1)
        await pool.ask(Call("status", (project,)))
        (only,) = pool._all
        os.kill(only._process.pid or 0, signal.SIGKILL)
        only._process.join()
        answer = await pool.ask(Call("status", (project,)))
        pool.close()
        return bool(answer.gates) and only not in pool._all

    assert run(work())


def test_a_pool_asks_at_most_so_many_at_once_and_answers_all(project: Path) -> None:
    async def work() -> tuple[int, int]:
        pool = Pool(2)
        answers = await asyncio.gather(*(pool.ask(Call("status", (project,))) for _ in range(6)))
        processes = len(pool._all)
        pool.close()
        return len(answers), processes

    answers, processes = run(work())
    assert (answers, processes <= 2) == (6, True)


def test_an_asker_who_goes_away_leaves_no_answer_for_the_next(project: Path) -> None:
    """The wire of a call that nobody waits for any more is not given to somebody else."""

    async def work() -> object:
        pool = Pool(1)
        asking = asyncio.create_task(pool.ask(Call("make_plan", (project,))))
        await asyncio.sleep(0.3)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        answer = await pool.ask(Call("status", (project,)))
        pool.close()
        return answer

    assert run(work()).gates


def test_a_pool_that_is_closed_leaves_no_process(project: Path) -> None:
    async def work() -> list[Worker]:
        pool = Pool(2)
        await pool.ask(Call("status", (project,)))
        workers = list(pool._all)
        pool.close()
        return workers

    workers = run(work())
    assert workers
    assert not any(worker.alive for worker in workers)
