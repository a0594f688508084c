"""After warming up, no search compiles anything."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from celosia import kernels
from celosia.solver.optimal import search
from tests.solver.random_problems import problems

SEARCH = {f"celosia.kernels.{name}" for name in ("rollup", "judge", "lattice", "peel")}


def compiled_signatures() -> int:
    """Signatures compiled so far, over all kernels."""
    from celosia.kernels._jit import KERNELS

    return sum(len(kernel.signatures) for kernel in KERNELS)


def test_progress_is_reported_to_the_end() -> None:
    progress: list[tuple[int, int]] = []
    kernels.warm_up(lambda done, total: progress.append((done, total)))
    assert progress[-1][0] == progress[-1][1] == len(progress)
    assert kernels.is_warm()


def test_every_kernel_is_warmed_up() -> None:
    from celosia.kernels._jit import KERNELS

    kernels.warm_up()
    cold = [k.py_func.__name__ for k in KERNELS if k.py_func.__module__ in SEARCH and not k.signatures]
    assert cold == []


def test_no_search_compiles_anything_after_warming_up() -> None:
    kernels.warm_up()
    before = compiled_signatures()

    @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
    @given(problems())
    def searches(problem: object) -> None:
        search(problem)  # type: ignore[arg-type]

    searches()
    assert compiled_signatures() == before
