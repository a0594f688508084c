"""The projects of the folder: where each stands, what blocks it, and the ways to begin another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from celosia import messages
from celosia.web import _rights as rights
from celosia.web._frame import Desk, plain_page, step_path, watched
from celosia.web._jobs import Job
from celosia.web._widgets import button, card, choice, figures, line, link, note, paragraph, state, tag, word

_NORMS = ("minsal", "atenea", "mel")
_TOURS = (*_NORMS, "yapo")


@plain_page("/", "web.projects")
async def projects_page(desk: Desk) -> None:
    """Every project, where it stands and what blocks it."""
    if not rights.may_see(desk.session.roles, "overview"):
        names = await desk.ask("open_attempts", desk.office.root)
        _to_try([one for one in names if desk.office.only in ("", one)])
        return
    found = await desk.ask("list_projects", desk.office.root)
    projects = [one for one in found.projects if desk.office.only in ("", one.folder)]
    if not desk.office.only and desk.may("create_project"):
        _begin(desk)
    folders = await desk.ask("stats.list_stats", desk.office.root) if desk.may("stats.list_stats") else ()
    folders = [one for one in folders if desk.office.only in ("", one.folder)]
    if not projects and not folders:
        paragraph(word("web.no_projects"))
    with tag("div", classes="c-columns"):
        for one in projects:
            _project(one, desk.office.jobs.last(desk.office.root / one.folder))
        for one in folders:
            _stats(one, desk.office.jobs.last(desk.office.root / one.folder))
    if desk.may("verify_upload"):
        link(word("web_verify.title"), "/verify")


def _to_try(folders: Sequence[str]) -> None:
    """What an outsider sees of the projects that can be tried: their names, and the way to the page of the test."""
    if not folders:
        paragraph(word("web_intruder.attempt.nothing"))
    with tag("div", classes="c-columns"):
        for folder in folders:
            with card(classes="c-project-card"), tag("h2"):
                link(folder, step_path(folder, "attempt"))


def _begin(desk: Desk) -> None:
    with card(word("web_projects.begin")):
        paragraph(word("web_projects.ways"))
        with line():
            link(word("web_projects.new"), "/new", "c-button c-primary c-link")
        _tour(desk)
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


def _tour(desk: Desk) -> None:
    """A guided tour of a norm, on a practice project of its own."""
    chosen = {"norm": _NORMS[0]}
    titles = {norm: messages.text(f"protocols.title.{norm}") for norm in _TOURS}
    with line():
        choice(word("web_tour.choose"), titles, _TOURS[0], lambda norm: chosen.update(norm=_one_of(_TOURS, norm)))
        made = tag("div", classes="c-field")
    box = tag("div")

    async def start() -> None:
        norm, root = chosen["norm"], desk.office.root
        name = await desk.ask("proposed_name", root, word("web_tour.folder", norm=norm))
        box.clear()
        with box:
            if norm == "yapo":
                begun(desk, name, "stats.tour_stats", root, name, to=f"/s/{name}")
            else:
                begun(desk, name, "tour_project", root, norm, name, to=f"/p/{name}")

    with made:
        button(word("web_tour.make"), start)
    paragraph(word("web_tour.meaning"), "c-soft")


def _one_of(known: Sequence[str], given: Any) -> str:
    return given if given in known else known[0]


def _take(chosen: dict[str, str], norm: Any) -> None:
    chosen["norm"] = norm if norm in _NORMS else chosen["norm"]


def begun(desk: Desk, name: str, verb: str, *args: Any, to: str = "", **kwargs: Any) -> None:
    """Begin the work that makes a project, show how far it is, and open the project (or `to`) when it is there."""
    from nicegui import ui

    own = Desk(desk.office, desk.session, name)
    own.start(verb, *args, **kwargs)
    own.when_done(lambda _: ui.navigate.to(to or f"/p/{name}/data"))
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


def _stats(one: Any, job: Job | None) -> None:
    """A folder of statistical tables: what it is, when it ran, and whether that failed."""
    with card(classes="c-project-card"):
        with tag("h2"):
            if one.problem:
                tag("span", one.folder)
            else:
                link(one.folder, f"/s/{one.folder}")
        if one.problem:
            note(one.problem, "bad")
            return
        if one.title:
            paragraph(one.title)
        figures([
            (word("web_stats.kind"), word("web_stats.kind_name")),
            (word("web_stats.figure.tables"), messages.integer(one.tables)),
            (word("web_stats.figure.last"), one.last[:10] or "–"),
        ])  # fmt: skip
        if job is not None and not job.ended:
            state(word("web_projects.working"), "info")
        if one.failed:
            state(word("web_stats.failed_short", when=one.failed[:10]), "bad")


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
