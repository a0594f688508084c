"""MINSAL's Annex II-1 walked on the page in a real browser, a picture at every step: `python -m examples.workbench`.

Makes docs/{es,en}/pictures/workbench-*.png from invented discharges. Needs the test environment and Chromium.
"""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from celosia import messages
from celosia.demo.synthetic.discharges import discharges

if TYPE_CHECKING:
    from playwright.sync_api import Page

DOCS = Path(__file__).resolve().parents[1] / "docs"
COLUMNS = (
    "SEXO", "EDAD_AÑOS", "PREVISION", "REGION", "PERTENENCIA_ESTABLECIMIENTO_SALUD", "MES_EGRESO", "CONDICION_EGRESO",
    "DIAG1", "DIAG2",
)  # fmt: skip
OWNERSHIP = "PERTENENCIA_ESTABLECIMIENTO_SALUD"
ROWS, SEED = 20_000, 7
LONGEST = 1500  # pixels of a picture
_WAIT = 240_000


def word(key: str, **fields: object) -> str:
    """A sentence of the page."""
    return messages.text(key, **fields)


class Camera:
    """Takes one picture after another."""

    def __init__(self, page: Page, folder: Path) -> None:
        self._page, self._folder = page, folder

    def take(self, name: str, whole: bool = False) -> None:
        """The window as it is now, or the page as far as a reader looks at once."""
        self._page.wait_for_timeout(700)
        path = self._folder / f"workbench-{name}.png"
        if not whole:
            self._page.screenshot(path=path)
            return
        height = min(int(self._page.evaluate("document.documentElement.scrollHeight")), LONGEST)
        clip = {"x": 0, "y": 0, "width": 1280, "height": height}
        self._page.screenshot(path=path, full_page=True, clip=clip)


@contextmanager
def served(root: Path, language: str) -> Iterator[str]:
    """A server over a folder; gives the address to open."""
    program = Path(sys.executable).with_name("celosia")
    command = [str(program), "serve", str(root), "--no-browser", "--lang", language]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield next(found[0] for line in process.stdout if (found := re.search(r"http://\S+", line)))
    finally:
        process.terminate()
        process.wait()


def write_raw(path: Path) -> Path:
    """`;` and UTF-8, as the annex has it."""
    table = discharges(ROWS, SEED).select(list(COLUMNS))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerow(table.column_names)
        writer.writerows(zip(*(column.to_pylist() for column in table.columns), strict=True))
    return path


def go_to(page: Page, step: str) -> None:
    """Follow the menu of the steps."""
    page.locator("nav.c-steps").get_by_role("link", name=word(f"web.step.{step}"), exact=True).click()
    page.locator("main h1", has_text=word(f"web.step.{step}")).wait_for()
    page.wait_for_function("window.socket && window.socket.connected")


def import_data(page: Page, camera: Camera, raw: Path) -> None:
    """Sections 1 and 2: a project, the file, its encoding, a column left out."""
    page.locator("a[href='/new']").first.click()
    page.wait_for_function("window.socket && window.socket.connected")
    camera.take("01-source")
    page.locator("input[type=file]").first.set_input_files(raw)
    page.locator("main select").first.wait_for(timeout=_WAIT)
    camera.take("02-reading")
    page.locator("button.c-primary").last.click()
    page.locator("main input[type=checkbox]").first.wait_for()
    page.locator("tr", has_text="MES_EGRESO").locator("input[type=checkbox]").check()
    camera.take("03-columns")
    page.locator("button.c-primary").last.click()
    name = page.locator("main input[type=text]").first
    name.wait_for()
    name.fill("EH_2020")
    name.press("Tab")
    page.get_by_label(re.compile("^MINSAL: ")).check()
    camera.take("04-name")
    page.locator("button.c-primary").last.click()
    page.wait_for_url("**/p/EH_2020/data", timeout=_WAIT)
    page.wait_for_function("window.socket && window.socket.connected")
    camera.take("05-data")


def classify(page: Page, camera: Camera) -> None:
    """Section 3: everything a quasi-identifier, the diagnoses sensitive."""
    go_to(page, "dictionary")
    camera.take("06-dictionary")
    page.locator("summary", has_text=word("web_dictionary.bulk.title")).click()
    page.get_by_role("button", name=word("web_dictionary.bulk.all")).click()
    bulk = page.locator("details", has_text=word("web_dictionary.bulk.title"))
    bulk.locator("select").first.select_option("quasi")
    purpose = bulk.locator("input[type=text]").first
    purpose.fill("Datos abiertos de egresos" if messages.language() == "es" else "Open data on discharges")
    purpose.press("Tab")
    bulk.get_by_role("button", name=word("web_dictionary.bulk.apply")).click()
    page.wait_for_timeout(1500)  # the rows are built anew with what was applied
    for name in ("DIAG1", "DIAG2"):
        page.locator("tr", has_text=name).locator("select").first.select_option("sensitive")
        page.wait_for_timeout(500)
    camera.take("07-roles", whole=True)
    page.get_by_role("button", name=word("web_dictionary.save.save")).click()
    page.wait_for_timeout(1500)


def bound(page: Page, level: str) -> None:
    """The same minimum and maximum level, and save."""
    page.get_by_label(word("web_hierarchies.levels.minimum")).select_option(level)
    page.get_by_label(word("web_hierarchies.levels.maximum")).select_option(level)
    page.get_by_role("button", name=word("web_hierarchies.act.save")).click()
    page.wait_for_timeout(6000)  # until its notice went away


def build_hierarchies(page: Page, camera: Camera) -> None:
    """Sections 5 to 7: an order kept at level 0, ages by 10, 20, 40… kept at level 1."""
    go_to(page, "hierarchies")
    for variable, kind, level, name in (
        (OWNERSHIP, "order", "0", "08-order"),
        ("EDAD_AÑOS", "intervals", "1", "09-intervals"),
    ):
        page.get_by_role("button", name=variable, exact=True).click()
        page.locator("h2, h3", has_text=variable).last.wait_for()
        page.get_by_label(word("web_hierarchies.kind_label")).select_option(kind)
        page.wait_for_timeout(2500)
        camera.take(name, whole=True)
        bound(page, level)


def search_and_run(page: Page, camera: Camera) -> None:
    """Section 4 and the rest: models, limit, search, candidate, what was suppressed."""
    go_to(page, "search")
    camera.take("10-criteria")
    page.get_by_role("button", name=word("web_search.search"), exact=True).click()
    page.locator(".c-work .c-note.c-good", has_text=word("web.work.search_plan")).wait_for(timeout=_WAIT)
    page.wait_for_timeout(1500)
    camera.take("11-plan", whole=True)
    page.get_by_role("button", name=word("web_search.plan.run"), exact=True).click()
    page.locator(".c-work .c-note.c-good", has_text=word("web.work.run_plan")).wait_for(timeout=_WAIT)
    go_to(page, "result")
    page.wait_for_timeout(1500)
    camera.take("12-result", whole=True)


def main() -> None:
    """Walk in both languages."""
    from playwright.sync_api import sync_playwright

    for language in messages.LANGUAGES:
        messages.use(language)
        folder = DOCS / language / "pictures"
        with tempfile.TemporaryDirectory() as place, sync_playwright() as play:
            root = Path(place) / "proyectos"
            root.mkdir()
            raw = write_raw(Path(place) / "egresos_2020.csv")
            browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            with served(root, language) as address:
                page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
                page.set_default_timeout(_WAIT)
                page.goto(address)
                page.wait_for_function("window.socket && window.socket.connected")
                camera = Camera(page, folder)
                import_data(page, camera, raw)
                classify(page, camera)
                build_hierarchies(page, camera)
                search_and_run(page, camera)
            browser.close()
        print(language, sorted(path.name for path in folder.glob("workbench-*.png")))


if __name__ == "__main__":
    main()
