"""The bill of materials: every package with its version, the digests of its files and what needs it.

Source: CycloneDX 1.6 (ECMA-424), the JSON format. Same lock, same bytes: no date and no serial number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from celosia.bundle.lock import Entry
from celosia.version import __version__

_DIGEST = "celosia:sha256"  # one property for each file of a package that may be installed
_MARKER = "celosia:marker"


def bill_of_materials(entries: Sequence[Entry]) -> dict[str, Any]:
    """What celosia and the packages of a lock are made of."""
    root = _reference("celosia", __version__)
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": _component("application", "celosia", __version__, "Apache-2.0")},
        "components": [_package(entry) for entry in entries],
        "dependencies": [
            {"ref": root, "dependsOn": _dependencies_of("celosia", entries)},
            *({"ref": _ref(entry), "dependsOn": _dependencies_of(entry.name, entries)} for entry in entries),
        ],
    }


def _package(entry: Entry) -> dict[str, Any]:
    properties = [{"name": _DIGEST, "value": digest} for digest in entry.digests]
    if entry.marker:
        properties.append({"name": _MARKER, "value": entry.marker})
    return {**_component("library", entry.name, entry.version), "properties": properties}


def _component(kind: str, name: str, version: str, licence: str = "") -> dict[str, Any]:
    reference = _reference(name, version)
    component = {"type": kind, "bom-ref": reference, "name": name, "version": version, "purl": reference}
    return {**component, "licenses": [{"license": {"id": licence}}]} if licence else component


def _dependencies_of(name: str, entries: Sequence[Entry]) -> list[str]:
    """What a package asks for, by the comments of the lock."""
    return [_ref(entry) for entry in entries if name in entry.needed_by]


def _ref(entry: Entry) -> str:
    return _reference(entry.name, entry.version)


def _reference(name: str, version: str) -> str:
    """The package URL."""
    return f"pkg:pypi/{name}@{version}"
