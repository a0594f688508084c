"""Processes that carry out operations: the page's own process stays small, answers at once, and stops work by a kill.

Knows the keys of operations and how to pass plain values to and fro. Ignores what they do. An operation killed at any
moment leaves the old state or the new one (operations promise it), so cancelling needs no help from them.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import multiprocessing
import os
import time
import traceback
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from typing import Any, ParamSpec

from celosia import messages
from celosia.errors import CelosiaError, InternalFault
from celosia.pipeline.project.author import act_as
from celosia.system.memory import limit_memory
from celosia.web.errors import WorkStopped
from celosia.workbench.operation import find_operation, operation_key, operation_label

WORKERS = 2  # warm processes that answer questions
LONGEST = 120.0  # seconds a question may take; what may take longer is a job, with progress and an end
_MEMORY_SHARE = 0.8  # of the machine's memory that one process may fill
_INTERVAL = 0.1  # seconds between two reports of progress

OnProgress = Callable[[str, float], None]
P = ParamSpec("P")


@dataclass(frozen=True, slots=True)
class Call:
    """An operation to carry out, by its key `module:name`."""

    operation: str
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    language: str = "es"
    who: str = ""  # whom it is done for; the person at the machine where there are no accounts …
    account: str = ""  # … and with which account

    @classmethod
    def to(cls, operation: Callable[P, Any], *args: P.args, **kwargs: P.kwargs) -> Call:
        """The call of an operation with these arguments."""
        return cls(operation_key(operation), args, kwargs)

    def on_behalf(self, language: str, who: str, account: str = "") -> Call:
        """The same call for a person: errors in their language, the journal in their name."""
        return replace(self, language=language, who=who, account=account)

    @property
    def label(self) -> str:
        """The short name of the operation, for the journal and the catalogue."""
        return operation_label(self.operation)


@dataclass(frozen=True, slots=True)
class FailureText:
    """A sentence for the reader, in place of the error that an operation raised in its process."""

    code: str
    sentence: str
    refusal: bool


class OperationFailed(Exception):
    """An operation ended in one of our errors; its sentence can be shown."""

    def __init__(self, failure: FailureText) -> None:
        super().__init__(failure.sentence)
        self.failure = failure


FAILURES = (OperationFailed, CelosiaError)  # of an operation in its process, and of what the page does itself


def _serve(connection: Connection) -> None:
    """Run in a worker process: calls come in, progress and one answer go out."""
    warnings.simplefilter("ignore")
    # A file made to fill the memory ends this process, not the server or others.
    limit_memory(_MEMORY_SHARE)
    with contextlib.suppress(EOFError, OSError, KeyboardInterrupt):
        while True:
            call = connection.recv()
            connection.send(_carry_out(call, connection))


def _carry_out(call: Call, connection: Connection) -> tuple[str, Any]:
    messages.use(call.language)
    try:
        act_as(call.who, call.account)
        function = find_operation(call.operation).function
        progress = {"report": _reporter(connection)} if "report" in inspect.signature(function).parameters else {}
        return "done", function(*call.args, **{**call.kwargs, **progress})
    except CelosiaError as error:
        return "failed", FailureText(error.code, str(error), error.exit_code == 1)
    except Exception as fault:  # noqa: BLE001 - no exception leaves the process: its message may quote data
        ours = internal_fault(fault)
        return "failed", FailureText(ours.code, str(ours), False)


def internal_fault(fault: BaseException) -> InternalFault:
    """The error to show for a fault of ours: its file, line and kind, never its message."""
    frames = traceback.extract_tb(fault.__traceback__)
    where = f"{os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else "?"
    return InternalFault(where=f"{where} {type(fault).__name__}")


def _reporter(connection: Connection) -> OnProgress:
    last = 0.0

    def report(stage: str, share: float) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _INTERVAL or share >= 1:
            last = now
            connection.send(("progress", (stage, share)))

    return report


class Worker:
    """One process and the pipe to it."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, other_end = context.Pipe()
        self._process = context.Process(target=_serve, args=(other_end,), daemon=True, name="celosia-worker")
        self._process.start()
        other_end.close()

    @property
    def alive(self) -> bool:
        """Whether it can take a call."""
        return self._process.is_alive()

    def call(self, call: Call, on_progress: OnProgress | None = None) -> Any:
        """Carry out an operation and wait for it; to be used in a thread of its own."""
        try:
            self._pipe.send(call)
            while True:
                kind, value = self._pipe.recv()
                if kind != "progress":
                    break
                if on_progress:
                    on_progress(*value)
        except (EOFError, OSError):
            raise WorkStopped() from None
        if kind == "failed":
            raise OperationFailed(value)
        return value

    def stop(self) -> None:
        """Kill the process: what it was doing stays undone."""
        self._process.kill()
        self._process.join()
        self._pipe.close()


class Pool:
    """Warm processes for questions, and one of its own for each job."""

    def __init__(self, workers: int = WORKERS) -> None:
        self._idle: list[Worker] = []
        self._all: set[Worker] = set()
        self._places = asyncio.Semaphore(workers)
        self._threads = ThreadPoolExecutor(32, "worker")

    async def ask(self, call: Call) -> Any:
        """Carry out a quick operation in a warm process."""
        async with self._places:
            worker = await self.take_worker()
            try:
                value = await asyncio.wait_for(self.run(worker, call), LONGEST)
            except TimeoutError:  # a question that never ends takes its own process with it
                self.dismiss(worker)
                raise WorkStopped() from None
            except OperationFailed:
                self._idle.append(worker)
                raise
            except BaseException:  # stopped, or the asker went away in the middle: an answer may still be in the pipe
                self.dismiss(worker)
                raise
            self._idle.append(worker)
            return value

    async def run(self, worker: Worker, call: Call, on_progress: OnProgress | None = None) -> Any:
        """Wait for a process in a thread of the pool: other threads of the server do not depend on it."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, worker.call, call, on_progress)

    async def take_worker(self) -> Worker:
        """An idle process or a new one; whoever takes it for a job dismisses it, so that its memory is freed."""
        while self._idle:
            worker = self._idle.pop()
            if worker.alive:
                return worker
            self.dismiss(worker)
        worker = await asyncio.to_thread(Worker)
        self._all.add(worker)
        return worker

    async def prepare(self, call: Call) -> None:
        """Start the warm processes and let them import what the first page needs, before anybody waits for it."""
        await asyncio.gather(*(self.ask(call) for _ in range(WORKERS)), return_exceptions=True)

    def dismiss(self, worker: Worker) -> None:
        """End a process."""
        self._all.discard(worker)
        worker.stop()

    def close(self) -> None:
        """End all processes."""
        for worker in tuple(self._all):
            self.dismiss(worker)
        self._idle.clear()
