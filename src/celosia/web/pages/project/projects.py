"""The projects of the folder: how far each is, what blocks it, and the ways to begin another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from celosia import messages
from celosia.messages import text
from celosia.stats.declaration.views import StatsFolder
from celosia.web.server import rights
from celosia.web.ui import html
from celosia.web.ui.context import PageContext, step_path
from celosia.web.ui.html import Click
from celosia.web.ui.page import plain_page, start_and_open
from celosia.workbench.operations.dossier import verify_upload
from celosia.workbench.operations.intruder import open_attempts
from celosia.workbench.operations.new_project import create_project, demo_project, proposed_name, tour_project
from celosia.workbench.operations.projects import list_projects
from celosia.workbench.operations.stats import list_stats, tour_stats
from celosia.workbench.views.projects import ProjectLine

_NORMS = ("minsal", "atenea", "mel")
_TOURS = (*_NORMS, "yapo")


@plain_page("/", "web.projects")
async def projects_page(page: PageContext) -> None:
    """Every project, how far it is and what blocks it."""
    root, only = page.server.root, page.server.only
    if not rights.may_see(page.session.roles, "overview"):
        names = await page.ask(open_attempts, root)
        _attempt_cards([name for name in names if only in ("", name)])
        return
    listed = await page.ask(list_projects, root)
    projects = [project for project in listed.projects if only in ("", project.folder)]
    if not only and page.may(create_project):
        _begin_card(page)
    stats = await page.ask(list_stats, root) if page.may(list_stats) else ()
    folders = [folder for folder in stats if only in ("", folder.folder)]
    if not projects and not folders:
        html.paragraph(text("web.no_projects"))
    with html.tag("div", classes="c-columns"):
        for project in projects:
            _project_card(page, project)
        for folder in folders:
            _stats_card(page, folder)
    if page.may(verify_upload):
        html.link(text("web_verify.title"), "/verify")


def _attempt_cards(names: Sequence[str]) -> None:
    """What an outsider sees of the projects that can be tried: their names, and the way to the page of the test."""
    if not names:
        html.paragraph(text("web_intruder.attempt.nothing"))
    with html.tag("div", classes="c-columns"):
        for name in names:
            with html.card(classes="c-project-card"), html.tag("h2"):
                html.link(name, step_path(name, "attempt"))


def _begin_card(page: PageContext) -> None:
    root = page.server.root

    async def start_tour(norm: str) -> None:
        name = await page.ask(proposed_name, root, text("web_tour.folder", norm=norm))
        if norm == "yapo":
            start_and_open(page, name, f"/s/{name}", tour_stats, root, name)
        else:
            start_and_open(page, name, f"/p/{name}", tour_project, root, norm, name)

    async def start_demo(norm: str) -> None:
        name = await page.ask(proposed_name, root, f"demo-{norm}")
        start_and_open(page, name, f"/p/{name}/data", demo_project, root, norm, name)

    with html.card(text("web_projects.begin")):
        html.paragraph(text("web_projects.ways"))
        with html.line():
            html.link(text("web_projects.new"), "/new", "c-button c-primary c-link")
        _norm_choice(text("web_tour.choose"), _TOURS, text("web_tour.make"), start_tour)
        html.paragraph(text("web_tour.meaning"), "c-soft")
        _norm_choice(text("web_projects.demo.norm"), _NORMS, text("web_projects.demo.make"), start_demo)
        html.paragraph(text("web_projects.demo.meaning"), "c-soft")


def _norm_choice(label: str, norms: Sequence[str], make: str, start: Callable[[str], Any]) -> None:
    """A choice of a norm and the button that makes a project of it; what the work shows comes below."""
    chosen = {"norm": norms[0]}

    def put(norm: Any) -> None:
        chosen["norm"] = norm if norm in norms else norms[0]

    async def begin() -> None:
        box.clear()
        with box:
            await start(chosen["norm"])

    with html.line():
        html.choice(label, {norm: messages.text(f"protocols.title.{norm}") for norm in norms}, norms[0], put)
        field = html.tag("div", classes="c-field")
    box = html.tag("div")
    on_click: Click = begin
    with field:
        html.button(make, on_click)


def _card_title(name: str, target: str, broken: bool) -> None:
    with html.tag("h2"):
        if broken:
            html.tag("span", name)
        else:
            html.link(name, target)


def _work_state(page: PageContext, folder: str) -> None:
    job = page.server.jobs.last(page.server.root / folder)
    if job is not None and not job.ended:
        html.state(text("web_projects.working"), "info")


def _project_card(page: PageContext, project: ProjectLine) -> None:
    with html.card(classes="c-project-card"):
        _card_title(project.folder, f"/p/{project.folder}", project.broken)
        for problem in project.problems:
            html.note(problem, "bad" if project.broken else "warning")
        if project.broken:
            return
        norms = ", ".join(messages.text(f"protocols.title.{norm}").partition(":")[0] for norm in project.protocols)
        html.figures(
            (text("web_projects.rows"), messages.integer(project.rows)),
            (text("web_projects.columns"), messages.integer(project.columns)),
            (text("web_projects.norms"), norms or "–"),
        )
        _work_state(page, project.folder)
        if project.gates:
            _gates_done(project)


def _gates_done(project: ProjectLine) -> None:
    with html.tag("div"):
        html.tag("strong", text("web_projects.done", done=project.done, gates=project.gates))
        with html.tag("span", classes="c-meter", aria_hidden="true"):
            html.tag("span", style=f"width: {100 * project.done // project.gates}%")
    if project.gate:
        html.paragraph(text("web_projects.before", gate=project.gate.partition(":")[0]), "c-next")
        html.paragraph(project.reason)
    else:
        html.state(text("web_projects.finished"), "good")


def _stats_card(page: PageContext, folder: StatsFolder) -> None:
    """A folder of statistical tables: what it is, when it ran, and whether that failed."""
    with html.card(classes="c-project-card"):
        _card_title(folder.folder, f"/s/{folder.folder}", bool(folder.problem))
        if folder.problem:
            html.note(folder.problem, "bad")
            return
        if folder.title:
            html.paragraph(folder.title)
        html.figures(
            (text("web_stats.kind"), text("web_stats.kind_name")),
            (text("web_stats.figure.tables"), messages.integer(folder.tables)),
            (text("web_stats.figure.last"), folder.last[:10] or "–"),
        )
        _work_state(page, folder.folder)
        if folder.failed:
            html.state(text("web_stats.failed_short", when=folder.failed[:10]), "bad")
