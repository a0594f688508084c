"""Processes that call verbs: the page's own process stays small, answers at once, and can stop any work by a kill.

Knows names of verbs and how to pass plain values to and fro. Ignores what they do. A verb killed at any moment leaves
the old state or the new one (that is the verbs' promise), so cancelling needs no help from them.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import inspect
import multiprocessing
import os
import time
import traceback
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

from celosia import messages
from celosia.errors import CelosiaError, InternalFault, WorkStopped

READERS = 2  # warm processes that answer questions
LONGEST = 120.0  # seconds a question may take; what may take longer is work, with progress and an end
_SHARE = 0.8  # of the machine's memory that one process may fill
_EVERY = 0.1  # seconds between two words about progress
_ROOMS = {"": "celosia.pipeline", "stats": "celosia.stats"}

Heard = Callable[[str, float], None]


@dataclass(frozen=True, slots=True)
class Call:
    """A verb to call: `make_plan`, `stats.run_stats`."""

    verb: str
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    language: str = "es"
    who: str = ""  # whom it is done for; the person at the machine where there are no accounts …
    account: str = ""  # … and with which account


@dataclass(frozen=True, slots=True)
class Told:
    """A sentence for the reader, in place of the error that a verb raised in its process."""

    code: str
    sentence: str
    refusal: bool


class Failed(Exception):
    """A verb ended in one of our errors; what it says is ready to be read."""

    def __init__(self, told: Told) -> None:
        super().__init__(told.sentence)
        self.told = told


def verb_named(name: str) -> Callable[..., Any]:
    """The public function behind a verb's name; nothing else can be called."""
    room, _, own = name.rpartition(".")
    module = importlib.import_module(_ROOMS[room])
    if own not in module.__all__:
        raise InternalFault(where=f"verb {own}")
    found: Callable[..., Any] = getattr(module, own)
    return found


def _serve(connection: Connection) -> None:
    """The life of a worker: calls come in, progress and one answer go out."""
    warnings.simplefilter("ignore")
    _limit_memory()
    with contextlib.suppress(EOFError, OSError, KeyboardInterrupt):
        while True:
            call = connection.recv()
            connection.send(_answer(call, connection))


def _limit_memory() -> None:
    """A file made to fill the memory ends this process, not the server or its neighbours."""
    if os.name != "posix":
        return
    import resource

    with contextlib.suppress(OSError, ValueError, AttributeError):
        most = int(_SHARE * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as score:
        score.write("1000")


def _answer(call: Call, connection: Connection) -> tuple[str, Any]:
    messages.use(call.language)
    try:
        verb_named("act_as")(call.who, call.account)
        verb = verb_named(call.verb)
        watched = {"report": _teller(connection)} if "report" in inspect.signature(verb).parameters else {}
        return "done", verb(*call.args, **{**call.kwargs, **watched})
    except CelosiaError as error:
        return "failed", Told(error.code, str(error), error.exit_code == 1)
    except Exception as fault:  # noqa: BLE001 - the last door: whatever it quotes stays inside
        ours = InternalFault(where=place_of(fault))
        return "failed", Told(ours.code, str(ours), False)


def place_of(fault: BaseException) -> str:
    """Where our own fault happened: file, line and kind, never its words."""
    frames = traceback.extract_tb(fault.__traceback__)
    where = f"{os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else "?"
    return f"{where} {type(fault).__name__}"


def _teller(connection: Connection) -> Heard:
    last = 0.0

    def tell(stage: str, share: float) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _EVERY or share >= 1:
            last = now
            connection.send(("progress", (stage, share)))

    return tell


class Worker:
    """One process and the wire to it."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._wire, far = context.Pipe()
        self._process = context.Process(target=_serve, args=(far,), daemon=True, name="celosia-worker")
        self._process.start()
        far.close()

    @property
    def alive(self) -> bool:
        """Whether it can take a call."""
        return self._process.is_alive()

    def call(self, call: Call, heard: Heard | None = None) -> Any:
        """Call a verb and wait for it; to be used in a thread of its own."""
        try:
            self._wire.send(call)
            while True:
                kind, value = self._wire.recv()
                if kind == "progress":
                    if heard:
                        heard(*value)
                    continue
                break
        except (EOFError, OSError):
            raise WorkStopped() from None
        if kind == "failed":
            raise Failed(value)
        return value

    def stop(self) -> None:
        """Kill the process: what it was doing stays undone."""
        self._process.kill()
        self._process.join()
        self._wire.close()


class Pool:
    """Warm processes for questions, and one of its own for each piece of long work."""

    def __init__(self, readers: int = READERS) -> None:
        self._idle: list[Worker] = []
        self._all: set[Worker] = set()
        self._places = asyncio.Semaphore(readers)
        self._threads = ThreadPoolExecutor(32, "worker")

    async def ask(self, call: Call) -> Any:
        """Call a quick verb in a warm process."""
        async with self._places:
            worker = await self._taken()
            try:
                value = await asyncio.wait_for(self.run(worker, call), LONGEST)
            except TimeoutError:  # a question that never ends takes its process with it, and nobody else's
                self.dismiss(worker)
                raise WorkStopped() from None
            except WorkStopped:
                self.dismiss(worker)
                raise
            except Failed:
                self._idle.append(worker)
                raise
            except BaseException:  # the asker went away in the middle: the wire is not at a pause
                self.dismiss(worker)
                raise
            self._idle.append(worker)
            return value

    async def run(self, worker: Worker, call: Call, heard: Heard | None = None) -> Any:
        """Wait for a process in a thread of the pool's own: what others wait for does not depend on it."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, worker.call, call, heard)

    async def own(self) -> Worker:
        """A process for one piece of work; whoever takes it dismisses it, so that its memory is given back."""
        return await self._taken()

    async def _taken(self) -> Worker:
        while self._idle:
            worker = self._idle.pop()
            if worker.alive:
                return worker
            self.dismiss(worker)
        worker = await asyncio.to_thread(Worker)
        self._all.add(worker)
        return worker

    async def prepare(self, call: Call) -> None:
        """Start the readers and let them import what the first page needs, before anybody waits for it."""
        await asyncio.gather(*(self.ask(call) for _ in range(READERS)), return_exceptions=True)

    def dismiss(self, worker: Worker) -> None:
        """End a process."""
        self._all.discard(worker)
        worker.stop()

    def close(self) -> None:
        """End all processes."""
        for worker in tuple(self._all):
            self.dismiss(worker)
        self._idle.clear()
