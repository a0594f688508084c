"""The files of a project, of its candidate and of its releases: the only module in which their names stand.

Knows names and where each file lies below its folder. Ignores what the files hold and whether they exist.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

SETTINGS, STATS_SETTINGS, TOUR = "celosia.toml", "stats.toml", "tour.toml"
DICTIONARY, ANNOTATED_DICTIONARY = "dictionary.csv", "mel_dictionary.xlsx"
DATA_NAME = "data"
DATA, ORDER, PARTS = "data.csv", "order.parquet", "parts.json"
WORKING_COPY, COPY_WITH_PERSONS = "working.parquet", "persons.parquet"
MANIFEST, PUBLICATION, ROSTER, SIGNATURES, RELEASES, DOSSIER = (
    "manifest.json",
    "publication.json",
    "roster.jsonl",
    "signatures",
    "releases",
    "dossier",
)
TIME_STAMP = "time-stamp"  # its files in the folder of signatures: time-stamp-1.tsr, …
PROFILE = ("profile.json", "profile.html")
SPECIAL_UNIQUES = "special-uniques.csv"
EXPLANATION, FRONTIER = ("explain.json", "explain.html"), ("frontier.json", "frontier.svg")
DELIVERY, RESTRICTED, PUBLIC = "delivery", "restricted", "public"
_PRIVATE = "private"


class _Below:
    """The path of a file or folder below the folder of its owner."""

    def __init__(self, *parts: str) -> None:
        self._parts = parts

    def __get__(self, owner: CandidatePaths | ReleasePaths | ProjectPaths, kind: type | None = None) -> Path:
        return owner.folder.joinpath(*self._parts)


@dataclass(frozen=True)
class CandidatePaths:
    """The folder of a candidate, whether it is still being made or stands in its project."""

    folder: Path

    data = _Below(DATA)
    order = _Below(ORDER)  # whose row each one is: a file, or a folder of parts
    verdict = _Below("verdict.json")
    rules = _Below("rules.json")
    closing = _Below("closing.json")
    sample = _Below("sample.parquet")


@dataclass(frozen=True)
class ReleasePaths:
    """The folder of a release: everything in it may be public."""

    folder: Path

    manifest = _Below(MANIFEST)
    publication = _Below(PUBLICATION)
    roster = _Below(ROSTER)
    signatures = _Below(SIGNATURES)
    data = _Below(DATA)
    dictionary = _Below(DICTIONARY)
    dossier = _Below(DOSSIER)


@dataclass(frozen=True)
class ProjectPaths:
    """The folder of a project; everything below `private` stays in the institution."""

    folder: Path

    settings = _Below(SETTINGS)
    stats_settings = _Below(STATS_SETTINGS)
    tour = _Below(TOUR)
    dictionary = _Below(DICTIONARY)
    dictionary_workbook = _Below("dictionary.xlsx")
    annotated_dictionary = _Below(ANNOTATED_DICTIONARY)
    people = _Below("people.toml")
    roster = _Below(ROSTER)  # who holds which roles with which key, signed
    request = _Below("request.toml")
    plan = _Below("plan.json")
    journal = _Below("journal.jsonl")
    approvals = _Below("approvals.jsonl")
    claims = _Below("claims.csv")
    hierarchies = _Below("hierarchies")
    releases = _Below(RELEASES)
    delivery = _Below(DELIVERY)

    private = _Below(_PRIVATE)
    working_copy = _Below(_PRIVATE, WORKING_COPY)
    source_place = _Below(_PRIVATE, "place.json")  # the table of a database whose rows stay there
    solution = _Below(_PRIVATE, "solution.npz")  # what the plan publishes for each combination
    methods_picture = _Below(_PRIVATE, "methods.svg")
    seed = _Below(_PRIVATE, "seed")
    keys = _Below(_PRIVATE, "keys")
    rounding_key = _Below(_PRIVATE, "rounding.key")
    reports = _Below(_PRIVATE, "reports")
    approved = _Below(_PRIVATE, "approved")  # what each approval covered, by digest
    unmapped = _Below(_PRIVATE, "unmapped")
    counted = _Below(_PRIVATE, "counted")  # of a STATS project
    maps_used = _Below(_PRIVATE, "maps.json")  # … as tables were last written with them
    dependencies = _Below(_PRIVATE, "dependencies.json")  # … between its columns
    hierarchy_drafts = _Below(_PRIVATE, "hierarchies")
    forms = _Below(_PRIVATE, "forms")  # of each release, as they were signed
    signed_forms = _Below(_PRIVATE, "signed-forms")  # PDFs of those forms that came back with legal signatures
    internal_dossier = _Below(_PRIVATE, DOSSIER)
    public_dossier = _Below(_PRIVATE, DOSSIER, PUBLIC)
    intruder = _Below(_PRIVATE, "intruder")
    intruder_report = _Below(_PRIVATE, "intruder", "report.json")
    attempts = _Below(_PRIVATE, "intruder", "attempts")

    @property
    def candidate(self) -> CandidatePaths:
        """The candidate that the last run left."""
        return CandidatePaths(self.private / "candidate")
