"""A real Spark cluster on loopback: a master and two workers, each a process of its own, in a private folder."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.folder_listing import files_under

START_SECONDS = 180
WORKERS = 2


class Cluster:
    """The processes of a cluster; a worker's executors belong to its process group and go with it."""

    def __init__(self, folder: Path):
        import pyspark

        self.folder = folder
        self._home = Path(pyspark.__file__).parent
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._numbers = 0
        place = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        self._start("master", "org.apache.spark.deploy.master.Master", *place)
        self.address = self._wait_for_log(r"Starting Spark master at (spark://127\.0\.0\.1:\d+)", 1)[-1]
        for _ in range(WORKERS):
            self._start_worker()
        self._wait_for_workers(WORKERS)

    def kill_worker(self) -> None:
        """End one worker and its executors at once, as a machine that loses its power does."""
        name = next(name for name in self._processes if name.startswith("worker"))
        os.killpg(self._processes[name].pid, signal.SIGKILL)
        for child in _children_in(self.folder / name):
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        self._processes.pop(name).wait()

    def heal(self) -> None:
        """Start as many workers as are missing."""
        missing = WORKERS - sum(name.startswith("worker") for name in self._processes)
        before = self._numbers
        for _ in range(missing):
            self._start_worker()
        if missing:
            self._wait_for_workers(before + missing)

    def logs(self) -> str:
        """Everything that master, workers and executors wrote."""
        written = [path for path in files_under(self.folder) if path.name in _LOGS]
        return "\n".join(path.read_text("utf-8", "replace") for path in written)

    def stop(self) -> None:
        """End every process."""
        for process in self._processes.values():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        for child in _children_in(self.folder):
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)

    def _start_worker(self) -> None:
        name = f"worker{self._numbers}"
        self._numbers += 1
        place = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        size = ("--cores", "1", "--memory", "1g", "--work-dir", str(self.folder / name))
        self._start(name, "org.apache.spark.deploy.worker.Worker", *place, *size, self.address)

    def _start(self, name: str, *command: str) -> None:
        own = self.folder / name
        own.mkdir(mode=0o700)
        settings = {
            "SPARK_HOME": str(self._home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_DAEMON_MEMORY": "128m",
            "SPARK_LOCAL_DIRS": str(own / "local"),
        }
        with open(own / "log", "wb") as log:
            program = [str(self._home / "bin" / "spark-class"), *command]
            self._processes[name] = subprocess.Popen(
                program, env=os.environ | settings, cwd=own, stdout=log, stderr=log, start_new_session=True
            )

    def _wait_for_workers(self, count: int) -> None:
        self._wait_for_log("(Registering worker) 127", count)

    def _wait_for_log(self, pattern: str, times: int) -> list[str]:
        """Wait until the master's log matches a pattern so many times, and return the matches."""
        log = self.folder / "master" / "log"
        matches: list[str] = []

        def enough() -> bool:
            matches[:] = re.findall(pattern, log.read_text("utf-8", "replace"))
            return len(matches) >= times

        wait_until(enough, START_SECONDS)
        return matches


_LOGS = ("log", "stdout", "stderr")


@contextlib.contextmanager
def run_cluster() -> Iterator[Cluster]:
    """A cluster and its folder, both gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="celosia-cluster-"))
    cluster = None
    try:
        cluster = Cluster(folder)
        yield cluster
    finally:
        if cluster is not None:
            cluster.stop()
        for child in _children_in(folder):
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        shutil.rmtree(folder, ignore_errors=True)


def wait_until(done: Callable[[], bool], seconds: float) -> None:
    """Look until it is so; a machine busy with other tests takes its time."""
    end = time.monotonic() + seconds
    while not done():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.05)


def _children_in(folder: Path) -> list[int]:
    """Processes that work somewhere inside a folder: executors and their Pythons."""
    processes = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if Path(os.readlink(entry / "cwd")).is_relative_to(folder):
                    processes.append(int(entry.name))
    return processes
