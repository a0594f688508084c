"""Long work on projects: it belongs to the server, not to a tab, and a project has one job at a time.

Knows what runs, how far it is and how it ended. Its result is what the operation wrote into the project.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from pathlib import Path

from celosia import messages
from celosia.errors import CelosiaError
from celosia.web.errors import ProjectBusy
from celosia.web.work.workers import Call, OperationFailed, Pool, Worker

MOST = 2  # jobs at once; the others wait
ENDED = ("done", "failed", "cancelled")


@dataclass(slots=True)
class Job:
    """One operation that takes long, as a page shows it."""

    number: int
    project: Path
    call: Call
    state: str = "waiting"  # waiting | running | done | failed | cancelled
    stage: str = ""
    share: float = 0.0
    sentence: str = ""  # why it failed
    refused: bool = False
    seen: bool = False  # a page that was opened after its end has shown it
    started: float = field(default_factory=time.monotonic)
    seconds: float = 0.0

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen."""
        return self.state in ENDED

    def update(self, stage: str, share: float) -> None:
        """Take the progress that the worker reports."""
        self.stage, self.share = stage, min(max(share, 0.0), 1.0)

    def end(self, state: str, sentence: str = "", refused: bool = False) -> None:
        """Set how it ended; the end of the process of a cancelled job changes nothing."""
        if not self.ended:
            self.state, self.sentence, self.refused = state, sentence, refused
            self.seconds = time.monotonic() - self.started


class Jobs:
    """The jobs of one server."""

    def __init__(self, pool: Pool, most: int = MOST) -> None:
        self._pool = pool
        self._places = asyncio.Semaphore(most)
        self._jobs: dict[Path, Job] = {}  # the last one of each project
        self._workers: dict[int, Worker] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._count = 0

    def start(self, project: Path, call: Call) -> Job:
        """Start a job; refused while the project has one under way."""
        last = self._jobs.get(project)
        if last is not None and not last.ended:
            raise ProjectBusy(project=project.name)
        self._count += 1
        job = Job(self._count, project, call)
        self._jobs[project] = job
        task = asyncio.create_task(self._run(job))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return job

    def last(self, project: Path) -> Job | None:
        """The job of a project that runs, or that ended last."""
        return self._jobs.get(project)

    def forget(self, project: Path) -> None:
        """Forget a job that ended, so that no page shows it."""
        job = self._jobs.get(project)
        if job is not None and job.ended:
            del self._jobs[project]

    def cancel(self, project: Path, number: int | None = None) -> None:
        """Stop the job of a project, or only the one of a number; the project stays as it was."""
        job = self._jobs.get(project)
        if job is None or job.ended or number not in (None, job.number):
            return
        job.end("cancelled")
        worker = self._workers.pop(job.number, None)
        if worker is not None:
            self._pool.dismiss(worker)

    async def _run(self, job: Job) -> None:
        async with self._places:
            if job.ended:
                return
            job.state = "running"
            worker = await self._pool.take_worker()
            if job.ended:  # cancelled while its process was starting
                self._pool.dismiss(worker)
                return
            self._workers[job.number] = worker
            try:
                await self._pool.run(worker, job.call, job.update)
                job.end("done")
            except OperationFailed as error:
                job.end("failed", error.failure.sentence, error.failure.refusal)
            except CelosiaError as error:
                with messages.speaking(job.call.language):
                    job.end("failed", str(error))
            finally:
                if self._workers.pop(job.number, None) is not None:
                    self._pool.dismiss(worker)
