"""A picture made of shapes: shown in a notebook, saved as SVG or PNG.

Knows its shapes and its name. Ignores what they mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from celosia.drawing.shapes import Shape
from celosia.drawing.svg import png_bytes, svg_text
from celosia.model.value_errors import ValueOutOfRange
from celosia.storage import atomic_write

_SUFFIXES = (".svg", ".png")


@dataclass(frozen=True, slots=True, repr=False)
class Drawing:
    """A picture: its shapes, and its name for those who listen to it."""

    id: str
    title: str
    description: str
    width: int
    height: int
    shapes: tuple[Shape, ...]

    def __repr__(self) -> str:
        return f"<{self.title}: {self.description}>" if self.description else f"<{self.title}>"

    def _repr_svg_(self) -> str:
        return self.svg()

    def svg(self) -> str:
        """The picture as SVG text."""
        return svg_text(self.id, self.title, self.description, (self.width, self.height), self.shapes)

    def png(self) -> bytes:
        """The picture as PNG, the same bytes on every machine."""
        return png_bytes(self.svg())

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the picture as the end of the name says, .svg or .png; readable by its owner only."""
        target = Path(path)
        kind = target.suffix.lower()
        if kind not in _SUFFIXES:
            raise ValueOutOfRange(parameter="path", given=kind, allowed=", ".join(_SUFFIXES))
        content = self.svg().encode("utf-8") if kind == ".svg" else self.png()
        with atomic_write(target) as draft:
            draft.write_bytes(content)
        return target
