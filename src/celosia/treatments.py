"""Every technique as a function on a pandas, Polars or Arrow frame.

    from celosia import treatments
    treated, change = treatments.microaggregate(frame, columns=["ingreso"], k=3)

The frame is not changed; the result is a frame of the same kind and the report of the change. A `seed` repeats
the draws of the techniques that use chance. `celosia techniques NAME` lists the parameters of each.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

NAMES: tuple[str, ...] = tuple(
    """
    select remove_variables remove_records recode generalise mask intervals age period grid region top_bottom
    microaggregate noise swap rank_swap swap_households round pram suppress_cells mask_sensitive shuffle renumber
    """.split()
)


def __getattr__(name: str) -> Callable[..., Any]:
    if name in NAMES:
        return partial(_treat_frame, technique=name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(NAMES)


def _treat_frame(frame: Any, *, technique: str, seed: bytes | str | int | None = None, **settings: Any) -> Any:
    from celosia.pipeline.assessment.apply_techniques import treat

    return treat(frame, technique, seed=seed, **settings)
