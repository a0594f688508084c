"""The projects of the folder: where each stands, what blocks it, and the ways to begin another."""

from __future__ import annotations

from typing import Any

from celosia import messages
from celosia.web._frame import Desk, plain_page, watched
from celosia.web._jobs import Job
from celosia.web._widgets import button, card, choice, figures, line, link, note, paragraph, state, tag, word

_NORMS = ("minsal", "atenea", "mel")


@plain_page("/", "web.projects")
async def projects_page(desk: Desk) -> None:
    """Every project, where it stands and what blocks it."""
    found = await desk.ask("list_projects", desk.office.root)
    projects = [one for one in found.projects if desk.office.only in ("", one.folder)]
    if not desk.office.only and desk.may("create_project"):
        _begin(desk)
    if not projects:
        paragraph(word("web.no_projects"))
    with tag("div", classes="c-columns"):
        for one in projects:
            _project(one, desk.office.jobs.last(desk.office.root / one.folder))
    if desk.may("verify_upload"):
        link(word("web_verify.title"), "/verify")


def _begin(desk: Desk) -> None:
    with card(word("web_projects.begin")):
        paragraph(word("web_projects.ways"))
        with line():
            link(word("web_projects.new"), "/new", "c-button c-primary c-link")
        _demo(desk)


def _demo(desk: Desk) -> None:
    chosen = {"norm": _NORMS[0]}
    titles = {norm: messages.text(f"protocols.title.{norm}") for norm in _NORMS}
    with line():
        choice(word("web_projects.demo.norm"), titles, _NORMS[0], lambda norm: _take(chosen, norm))
        made = tag("div", classes="c-field")
    box = tag("div")

    async def start() -> None:
        norm = chosen["norm"]
        name = await desk.ask("proposed_name", desk.office.root, f"demo-{norm}")
        box.clear()
        with box:
            begun(desk, name, "demo_project", desk.office.root, norm, name)

    with made:
        button(word("web_projects.demo.make"), start)
    paragraph(word("web_projects.demo.meaning"), "c-soft")


def _take(chosen: dict[str, str], norm: Any) -> None:
    chosen["norm"] = norm if norm in _NORMS else chosen["norm"]


def begun(desk: Desk, name: str, verb: str, *args: Any, **kwargs: Any) -> None:
    """Begin the work that makes a project, show how far it is, and open the project when it is there."""
    from nicegui import ui

    own = Desk(desk.office, desk.session, name)
    own.start(verb, *args, **kwargs)
    own.when_done(lambda _: ui.navigate.to(f"/p/{name}/data"))
    watched(own, tag("div", aria_live="polite"))


def _project(one: Any, job: Job | None) -> None:
    with card(classes="c-project-card"):
        with tag("h2"):
            if one.broken:
                tag("span", one.folder)
            else:
                link(one.folder, f"/p/{one.folder}")
        for problem in one.problems:
            note(problem, "bad" if one.broken else "warning")
        if one.broken:
            return
        norms = ", ".join(messages.text(f"protocols.title.{norm}").partition(":")[0] for norm in one.protocols)
        figures([
            (word("web_projects.rows"), messages.integer(one.rows)),
            (word("web_projects.columns"), messages.integer(one.columns)),
            (word("web_projects.norms"), norms or "–"),
        ])  # fmt: skip
        if job is not None and not job.ended:
            state(word("web_projects.working"), "info")
        _standing(one)


def _standing(one: Any) -> None:
    if not one.gates:
        return
    with tag("div"):
        tag("strong", word("web_projects.done", done=one.done, gates=one.gates))
        with tag("span", classes="c-meter", aria_hidden="true"):
            tag("span", style=f"width: {100 * one.done // one.gates}%")
    if one.gate:
        paragraph(word("web_projects.before", gate=one.gate.partition(":")[0]), "c-next")
        paragraph(one.reason)
    else:
        state(word("web_projects.finished"), "good")
