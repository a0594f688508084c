"""The two pictures of architecture.md: the packages from the inside out, and the path of a value.

Knows boxes, rows and arrows. Every package of packages.toml has its place in the first one, or it refuses to draw.
"""

from __future__ import annotations

import tomllib
from html import escape
from pathlib import Path

DOCS = Path(__file__).resolve().parent
WIDTH, MARGIN, GAP, HEIGHT = 960, 16, 10, 34
LABEL = 150  # pixels of the names of the rows

# Rows from the outside in; a package appears with the sub-packages that packages.toml names below it.
LAYERS = (
    ({"es": "quien lo usa", "en": "interfaces"}, ("cli", "web")),
    (
        {"es": "lo que piden", "en": "what they ask"},
        ("workbench", "library", "stats", "demo", "bundle", "treatments", "sklearn"),
    ),
    ({"es": "el trabajo", "en": "the workflow"}, ("pipeline",)),
    ({"es": "datos y documentos", "en": "data and documents"}, ("data", "proposals", "protocols", "dossier")),
    ({"es": "algoritmos", "en": "algorithms"}, ("risk", "evaluation", "solver", "techniques", "tables", "attacks")),
    ({"es": "arreglos", "en": "arrays"}, ("tuples", "kernels", "hierarchy")),
    ({"es": "base", "en": "foundation"}, ("frames", "drawing", "model", "storage", "system")),
    ({"es": "palabras", "en": "words"}, ("errors", "messages", "carried", "version")),
)
ENTRY_POINTS = {"__main__", "celosia"}

STEPS = (
    ("data", {"es": ("archivo o base", "texto, sin adivinar"), "en": ("file or database", "text, nothing guessed")}),
    ("tuples", {"es": ("combinaciones", "códigos, filas, personas"), "en": ("tuples", "codes, rows, persons")}),
    ("solver", {"es": ("plan", "niveles óptimos, con prueba"), "en": ("plan", "optimal levels, proved")}),
    ("candidate", {"es": ("candidato", "escrito aparte y releído"), "en": ("candidate", "written aside, read back")}),
    ("intruder", {"es": ("ataques", "tasa, intervalo, control"), "en": ("attacks", "rate, interval, control")}),
    ("release", {"es": ("publicación", "firmada, verificable"), "en": ("release", "signed, verifiable")}),
)


def packages_picture(language: str) -> str:
    """The packages in rows; each may import only what stands in its own row or below."""
    names = tomllib.loads((DOCS / "packages.toml").read_text("utf-8"))["packages"]
    placed = {package for _, packages in LAYERS for package in packages} | ENTRY_POINTS
    missing = {name.partition(".")[0] for name in names} - placed
    if missing:
        raise ValueError(f"docs/pictures.py has no place for {sorted(missing)}")
    shapes, top = [], MARGIN
    for words, packages in LAYERS:
        height = HEIGHT + (16 if any(_parts(names, package) for package in packages) else 0)
        shapes.append(_text(MARGIN, top + height / 2 + 5, words[language], "start", "muted"))
        details = [" · ".join(_parts(names, package)) for package in packages]
        weights = [max(len(detail), 18) for detail in details]
        scale, left = (WIDTH - LABEL - MARGIN - GAP * (len(packages) - 1)) / sum(weights), float(LABEL)
        for package, detail, weight in zip(packages, details, weights, strict=True):
            shapes += _box(left, top, weight * scale, height, package, detail)
            left += weight * scale + GAP
        top += height + GAP
    return _drawing(top + MARGIN - GAP, shapes)


def value_picture(language: str) -> str:
    """The path of a value from the source to a release, and the package in which each step lives."""
    width = (WIDTH - 2 * MARGIN - GAP * 2 * (len(STEPS) - 1)) / len(STEPS)
    shapes = []
    for number, (package, words) in enumerate(STEPS):
        left = MARGIN + number * (width + 2 * GAP)
        title, detail = words[language]
        shapes += _box(left, MARGIN, width, 64, title, detail)
        shapes.append(_text(left + width / 2, MARGIN + 86, package, "middle", "muted"))
        if number:
            shapes.append(f'<path d="M{left - 2 * GAP + 3:.0f} {MARGIN + 32} h{2 * GAP - 8}" class="arrow"/>')
    return _drawing(MARGIN + 104, shapes)


# A table before and after: invented people, real communes and provinces.
ROWS = (
    (("12.345.678-5", "34", "F", "Ñuñoa", "J18"), ("30–39", "F", "Santiago", "J18")),
    (("9.876.543-3", "37", "F", "Macul", "I21"), ("30–39", "F", "Santiago", "I21")),
    (("15.222.333-9", "71", "M", "Viña del Mar", "S72"), ("70–79", "M", "Valparaíso", "S72")),
    (("7.111.222-0", "75", "M", "Valparaíso", "J18"), ("70–79", "M", "Valparaíso", "J18")),
    (("18.000.111-2", "103", "M", "Putre", "K35"), ("*", "*", "*", "*")),
)
HEADS = {
    "es": (("RUN", "edad", "sexo", "comuna", "diagn."), ("edad", "sexo", "provincia", "diagn.")),
    "en": (("RUN", "age", "sex", "commune", "diagn."), ("age", "sex", "province", "diagn.")),
}
TITLES = {"es": ("antes", "después: k ≥ 2, l ≥ 2"), "en": ("before", "after: k ≥ 2, l ≥ 2")}
WIDTHS = ((120, 55, 50, 120, 65), (70, 50, 120, 65))


def before_after_picture(language: str) -> str:
    """Five rows as they came and as they leave."""
    shapes: list[str] = []
    left, step = float(MARGIN), 30
    for side, widths in enumerate(WIDTHS):
        shapes.append(_text(left, MARGIN + 14, TITLES[language][side], "start", "name"))
        table = (HEADS[language][side], *(row[side] for row in ROWS))
        for number, cells in enumerate(table):
            top, x = MARGIN + 26 + number * step, left
            shapes.append(f'<rect x="{left:.1f}" y="{top}" width="{sum(widths)}" height="{step - 4}" rx="4"/>')
            for cell, width in zip(cells, widths, strict=True):
                shapes.append(_text(x + 10, top + 18, cell, "start", "plain" if number else "muted"))
                x += width
        left += sum(widths) + 70
        if not side:
            shapes.append(f'<path d="M{left - 58:.0f} {MARGIN + 26 + 3 * step} h36" class="arrow"/>')
    return _drawing(MARGIN + 26 + len(ROWS) * step + step + MARGIN / 2, shapes)


def _parts(names: dict, package: str) -> list[str]:
    return [name.partition(".")[2] for name in names if name.startswith(f"{package}.")]


def _box(left: float, top: float, width: float, height: float, title: str, detail: str) -> list[str]:
    middle = left + width / 2
    box = f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}" rx="5"/>'
    line = top + height / 2 + (5 if not detail else -3)
    return [box, _text(middle, line, title, "middle", "name")] + (
        [_text(middle, line + 17, detail, "middle", "detail")] if detail else []
    )


def _text(x: float, y: float, words: str, anchor: str, style: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{style}">{escape(words)}</text>'


def _drawing(height: float, shapes: list[str]) -> str:
    style = (
        "text{font-family:system-ui,sans-serif;font-size:13px;fill:#1d2733}.name{font-weight:600}"
        ".detail{font-size:10.5px}.muted{font-size:12px;fill:#5b6673}rect{fill:#eef3f8;stroke:#8aa0b8}"
        ".arrow{stroke:#5b6673;stroke-width:2;fill:none;marker-end:url(#head)}"
    )
    arrow_head = '<path d="M0 0L6 3L0 6z" fill="#5b6673"/>'
    head = f'<marker id="head" markerWidth="6" markerHeight="6" refX="4" refY="3" orient="auto">{arrow_head}</marker>'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" role="img">',
            f"<style>{style}</style><defs>{head}</defs>",
            f'<rect x="0" y="0" width="{WIDTH}" height="{height:.0f}" style="fill:#fff;stroke:none"/>',
            *shapes,
            "</svg>\n",
        ]
    )
