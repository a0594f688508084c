"""Shapes as SVG text and as PNG.

Knows the style of every picture, on light and dark paper. Ignores what is drawn. The SVG is self-contained; typst
draws the PNG from it with the fonts it carries, so that nothing of the machine enters it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from celosia.drawing.shapes import Shape
from celosia.drawing.typesetter import load_typst

_PAGE = b'#set page(width: auto, height: auto, margin: 0pt)\n#image(bytes(sys.inputs.picture), format: "svg")\n'
_PPI = 144.0
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&#34;", "'": "&#39;"})


def escape(text: str) -> str:
    """A text that no reader of SVG or HTML takes for marks."""
    return text.translate(_ESCAPES)


def svg_text(key: str, title: str, description: str, size: tuple[int, int], shapes: Iterable[Shape]) -> str:
    """A picture as SVG, with its name and its figures in words for those who listen to it."""
    return "\n".join([*_head(escape(key), title, description, size), *map(_element, shapes), "</svg>"])


def _head(key: str, title: str, description: str, size: tuple[int, int]) -> Iterator[str]:
    width, height = size
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="ch" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" style="max-width:100%;height:auto" role="img" '
        f'aria-labelledby="{key}-title {key}-desc">'
    )
    yield f'<title id="{key}-title">{escape(title)}</title>'
    yield f'<desc id="{key}-desc">{escape(description)}</desc>'
    yield f"<style>\n{_style()}</style>"
    yield f'<rect class="ch-paper" width="{width}" height="{height}"></rect>'


@cache
def _style() -> str:
    return Path(__file__).with_name("chart.css").read_text("utf-8")


def _element(shape: Shape) -> str:
    if shape.kind == "rect":
        return _rect(shape)
    if shape.kind == "line":
        return f'<line class="{shape.style}" x1="{shape.x}" y1="{shape.y}" x2="{shape.x2}" y2="{shape.y2}"></line>'
    if shape.kind == "circle":
        return (
            f'<circle class="{shape.style}" cx="{shape.x}" cy="{shape.y}" r="{shape.width}">'
            f"{_tooltip(shape.text)}</circle>"
        )
    return _text(shape)


def _rect(shape: Shape) -> str:
    opacity = f' fill-opacity="{shape.opacity}"' if shape.opacity < 1 else ""
    return (
        f'<rect class="{shape.style}" x="{shape.x}" y="{shape.y}" width="{shape.width}" height="{shape.height}"'
        f"{opacity}>{_tooltip(shape.text)}</rect>"
    )


def _tooltip(text: str) -> str:
    return f"<title>{escape(text)}</title>" if text else ""


def _text(shape: Shape) -> str:
    place = f'x="{shape.x}" y="{shape.y}"'
    if shape.turned:
        place = f'transform="translate({shape.x} {shape.y}) rotate({shape.turned})"'
    return f'<text class="ch-text {shape.style}" {place} text-anchor="{shape.anchor}">{escape(shape.text)}</text>'


def png_bytes(svg: str) -> bytes:
    """A picture as PNG."""
    compiler = load_typst().Compiler(_PAGE, ignore_system_fonts=True, sys_inputs={"picture": svg})
    compiled = compiler.compile(format="png", ppi=_PPI)
    pages = compiled if isinstance(compiled, list) else [compiled or b""]
    return bytes(pages[0])
