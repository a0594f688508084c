"""The tours: every step has its words and its page, and is seen to be done when, and only when, it was done."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from celosia import messages
from celosia.demo.stats_tour import tour_stats
from celosia.demo.tour import tour_project, tour_view
from celosia.demo.tour_steps import TOURS
from celosia.model.errors import UnknownFormat
from celosia.model.value_errors import ValueOutOfRange
from celosia.pipeline.candidate.approvals import approve
from celosia.pipeline.candidate.run import run_plan
from celosia.pipeline.intake.dictionary_files import state_purpose
from celosia.pipeline.intake.profile import profile_report
from celosia.pipeline.project.author import act_as
from celosia.pipeline.project.edits import add_person, write_request
from celosia.pipeline.project.identity import Identity, new_identity
from celosia.pipeline.release.make_release import make_release, sign_release
from celosia.pipeline.release.mel_delivery import deliver
from celosia.pipeline.release.publish import publish
from celosia.pipeline.release.status import status
from celosia.stats.catalogue import write_catalogue
from celosia.stats.errors import ValuesWithoutMapping
from celosia.stats.intervals import find_intervals
from celosia.stats.jobs import attack_now, run_now
from celosia.stats.view import stats_view
from celosia.storage import AlreadyExists
from celosia.web.pages import PAGES
from celosia.web.ui.page import STATS_PARTS, STEPS
from celosia.workbench.dictionary_edit import edit_dictionary
from celosia.workbench.projects import list_projects
from celosia.workbench.result import evaluation_report
from celosia.workbench.risk import risk_geography, risk_overview, risk_scenarios
from celosia.workbench.search import search_plan
from tests.projects.steps import make_intruder_test, sign_people
from tests.projects.survey import make_project

NOW = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)
PARTS = ("title", "read", "do", "done")
PUBLISHED: Mapping[str, tuple[str, ...]] = {
    "minsal": ("SEXO", "EDAD_AÑOS", "COMUNA", "PREVISION", "DIAG1"),
    "atenea": ("Edad", "Departamento", "Nivel de escolaridad", "Ingresos"),
    "mel": ("DEPARTAMENTO", "MUNICIPIO", "SEXO", "EDAD", "NIVEL_EDUCATIVO", "AREA_PREDIO_HA", "CONFIANZA_ALCALDIA",
            "PERCEPCION_SEGURIDAD", "FACTOR_EXPANSION"),
}  # fmt: skip
REQUESTS: Mapping[str, Mapping[str, object]] = {
    "minsal": {
        "source": {
            "name": "Registro de egresos hospitalarios", "period_from": "2024-01-01", "period_until": "2024-12-31",
            "unit": "egreso hospitalario", "department": "Estadísticas", "responsible": ["Carla Díaz"],
        },
        "minsal": {"administrative_act": True, "dictionary": True, "validated": True, "homologated": False,
                   "particularly_sensitive": False, "purpose": "Estudio de morbilidad"},
        "publication": {"contact": "datos@salud.example", "licence": "CC-BY-4.0"},
    },
    "atenea": {
        "title": "Solicitudes de becas", "kind": "external", "requester": "Universidad", "official": "Nora Gil",
        "received": "2026-10-01", "aggregation": "persona",
        "variables": list(PUBLISHED["atenea"]), "authorisation": "Acta 12", "use": "Estudio de acceso",
        "properties": [{"property": "mean", "variables": ["Ingresos"], "tolerance": "0.01"}],
        "legal": {"protected_by_law": True, "subject_authorisation": True, "limited": ["Religión", "Grupo étnico"]},
        "source": {"name": "Registro de solicitudes"},
        "publication": {"contact": "datos@agencia.example", "licence": "CC-BY-4.0"},
    },
    "mel": {
        "title": "Encuesta de hogares rurales", "source": {"name": "Encuesta"},
        "mel": {"consent": "Leído y aceptado", "contrast": ["MUNICIPIO", "SEXO", "EDAD", "AREA_PREDIO_HA"]},
        "publication": {"contact": "datos@evaluacion.example", "licence": "CC-BY-4.0"},
    },
}  # fmt: skip
NAMES = {"executor": "Ana Rojas", "verifier": "Beto Soto", "head": "Carla Díaz", "lead": "Clara Ruiz"}


class Walk:
    """One project walked as its tour says, each person with a key of their own."""

    def __init__(self, root: Path, norm: str, keys: Path) -> None:
        self.norm = norm
        self.chief = "head" if norm == "minsal" else "lead"
        self.folder = tour_project(root, norm, "practica", now=NOW).project.folder
        self.keys = keys

    def _person(self, role: str) -> Identity:
        made = new_identity(NAMES[role], "una frase de paso", self.keys / f"{role}.key")
        add_person(self.folder, made.name, (role,), made.key, now=NOW)
        return made

    def data(self) -> None:
        profile_report(self.folder, now=NOW)

    def request(self) -> None:
        write_request(self.folder, now=NOW, **REQUESTS[self.norm])

    def dictionary(self) -> None:
        if self.norm == "mel":
            edit_dictionary(self.folder, {"HOGAR_ID": {"mel_label": "direct", "treatment": "remove"}}, now=NOW)
        state_purpose(self.folder, PUBLISHED[self.norm], "Estudio", now=NOW)

    def risk(self) -> None:
        (risk_scenarios if self.norm == "atenea" else risk_overview)(self.folder, now=NOW)

    def geography(self) -> None:
        risk_geography(self.folder, now=NOW)

    def plan(self) -> None:
        search_plan(self.folder, now=NOW)

    def people(self) -> None:
        self.identities = {role: self._person(role) for role in (self.chief, "executor")}
        sign_people(self.folder, [self.identities[self.chief]])

    def approve(self) -> None:
        what = "dictionary" if self.norm == "mel" else "plan"
        approve(self.folder, what, self.identities[self.chief], self.chief, now=NOW)

    def run(self) -> None:
        run_plan(self.folder, now=NOW)

    def result(self) -> None:
        evaluation_report(self.folder, now=NOW)

    def residual(self) -> None:
        approve(self.folder, "residual", self.identities["lead"], "lead", now=NOW)

    def intruder(self) -> None:
        self._take_verifier_in()
        make_intruder_test(self.folder, self.identities["verifier"])

    def _take_verifier_in(self) -> None:
        self.identities["verifier"] = self._person("verifier")
        sign_people(self.folder, [self.identities[self.chief]])

    def check(self) -> None:
        if "verifier" not in self.identities:
            self._take_verifier_in()
        approve(self.folder, "candidate", self.identities["verifier"], "verifier", now=NOW)

    def _signed(self) -> Path:
        release = Path(make_release(self.folder, now=NOW).folder)
        for role in ("executor", "verifier", self.chief):
            sign_release(release, self.folder, self.identities[role], role, now=NOW)
        return release

    def deliver(self) -> None:
        self.release = self._signed()
        deliver(self.folder, now=NOW)

    def publish(self) -> None:
        release = self.release if self.norm == "mel" else self._signed()
        consulted = date(2026, 11, 2) if self.norm == "minsal" else None
        day = date(2026, 11, 20)
        publish(
            self.folder,
            release,
            self.identities[self.chief],
            consultation=consulted,
            publication_date=day,
            update_period="anual",
            now=NOW,
        )


@pytest.fixture
def acting() -> Iterator[None]:
    """The work is done for whoever executes, as a shared page does it."""
    act_as(NAMES["executor"])
    yield
    act_as("")


@pytest.mark.slow
@pytest.mark.parametrize("norm", ["minsal", "atenea", "mel"])
def test_each_step_is_seen_done_when_its_verbs_were_called(norm: str, tmp_path: Path, acting: None) -> None:
    root, keys = tmp_path / "proyectos", tmp_path / "llaves"
    root.mkdir()
    keys.mkdir()
    walk = Walk(root, norm, keys)
    for place, step in enumerate(TOURS[norm]):
        before = tour_view(walk.folder, now=NOW)
        assert before is not None
        assert (before.current, before.done) == (place, place), step.id
        act: Callable[[], None] = getattr(walk, step.id)
        act()
    end = tour_view(walk.folder, now=NOW)
    assert end is not None
    assert end.current is None
    assert status(walk.folder, now=NOW).done


class StatsWalk:
    """The STATS folder walked as its tour says; a week between its runs."""

    def __init__(self, root: Path) -> None:
        self.folder = tour_stats(root, "censo")

    def stop(self) -> None:
        with pytest.raises(ValuesWithoutMapping):
            run_now(self.folder, now=NOW)

    def map(self) -> None:
        with (self.folder / "mapas" / "instituciones.csv").open("a", encoding="utf-8") as file:
            file.write("Instituto Técnico Los Lapachos,terciaria\n")

    def run(self) -> None:
        run_now(self.folder, now=NOW)

    def hidden(self) -> None:
        first = next(one for one in stats_view(self.folder).lines if one.hidden)
        find_intervals(self.folder, first.table, now=NOW)

    def attack(self) -> None:
        attack_now(self.folder, now=NOW)

    def catalogue(self) -> None:
        write_catalogue(self.folder)

    def again(self) -> None:
        run_now(self.folder, full=False, now=NOW + timedelta(days=7))


@pytest.mark.slow
def test_each_step_of_the_statistics_is_seen_done_when_it_was(tmp_path: Path) -> None:
    walk = StatsWalk(tmp_path)
    for place, step in enumerate(TOURS["yapo"]):
        before = tour_view(walk.folder, now=NOW)
        assert before is not None
        assert (before.current, before.done) == (place, place), step.id
        getattr(walk, step.id)()
    end = tour_view(walk.folder, now=NOW)
    assert end is not None
    assert (end.current, end.commands) == (None, ())


def test_the_statistics_that_are_practised_are_those_of_the_guide(tmp_path: Path) -> None:
    folder, guide = tour_stats(tmp_path), Path("examples/yapo").resolve()
    kept, told = (tomllib.loads((home / "stats.toml").read_text("utf-8")) for home in (folder, guide))
    assert {key: kept[key] for key in kept if key not in ("source", "target")} == {
        key: told[key] for key in told if key not in ("source", "target")
    }
    assert (folder / "mapas" / "instituciones.csv").read_bytes() == (guide / "mapas" / "instituciones.csv").read_bytes()
    assert (folder / "private").stat().st_mode & 0o777 == 0o700
    with pytest.raises(AlreadyExists):
        tour_stats(tmp_path, folder.name)


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_every_step_has_its_words_in_both_languages(language: str) -> None:
    known = messages.section(language, "web_tour")
    wanted = {f"{norm}.{step.id}.{part}" for norm, steps in TOURS.items() for step in steps for part in PARTS}
    assert wanted <= set(known)
    assert {key for key in known if key.split(".")[0] in TOURS} == wanted


def test_every_step_stands_on_a_page_that_exists() -> None:
    pages = {name.removesuffix(".page").rpartition(".")[2] for name in PAGES}
    for norm, steps in TOURS.items():
        known = set(STATS_PARTS) if norm == "yapo" else set(STEPS) & pages
        assert {step.page for step in steps} <= known, norm
        assert len(steps) <= 12
        assert len({step.id for step in steps}) == len(steps)


def test_the_section_of_each_step_is_one_of_its_norm() -> None:
    for norm, steps in TOURS.items():
        text = (Path(messages.__file__).parent.parent / "protocols" / f"{norm}.toml").read_text("utf-8")
        assert [step.section for step in steps if step.section not in text] == []


def test_the_steps_that_verify_need_another_person() -> None:
    for steps in TOURS.values():
        assert all(step.another for step in steps if {"verifier", "outsider"} & set(step.roles))


def test_another_project_is_no_tour(tmp_path: Path) -> None:
    make_project(tmp_path / "p")
    assert tour_view(tmp_path / "p") is None


def test_a_mark_that_names_no_tour_is_refused_and_hides_no_project(tmp_path: Path) -> None:
    make_project(tmp_path / "p")
    (tmp_path / "p" / "tour.toml").write_text('format = "celosia/tour/1"\nnorm = "otra"\n', "utf-8")
    with pytest.raises(UnknownFormat):
        tour_view(tmp_path / "p")
    assert [one.folder for one in list_projects(tmp_path).projects] == ["p"]


def test_a_tour_of_an_unknown_norm_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    with pytest.raises(ValueOutOfRange):
        tour_project(tmp_path, "otra")
    assert list(tmp_path.iterdir()) == []


def test_the_commands_make_an_account_for_each_role_and_open_the_shared_page(tmp_path: Path) -> None:
    root = tmp_path / "mis proyectos"
    root.mkdir()
    view = tour_view(tour_project(root, "atenea", now=NOW).project.folder)
    assert view is not None
    assert [line.rpartition(" ")[2] for line in view.commands] == ["executor", "verifier", "lead", "--shared"]
    assert all(f"'{root}'" in line for line in view.commands)
    assert (view.current, len(view.steps)) == (0, 11)
