"""The crosswalk of one release: each pointer with the figure, document or signature that its folder shows.

Knows the release folder, which is verified again, and the crosswalk. Ignores the project: what only that holds (the
request, the attacks) is not shown.
"""

from __future__ import annotations

from collections.abc import Sized
from pathlib import Path

from celosia.model.releases import Manifest
from celosia.model.reports.crosswalk import Evidence, Pointer, PointerKind, ReleaseCrosswalk
from celosia.model.reports.verification import VerifyReport
from celosia.pipeline.project.arguments import PathArg
from celosia.pipeline.release.folder import read_release
from celosia.pipeline.release.verify import verify_release
from celosia.protocols.crosswalk import load_crosswalk, rules_measured_by


def release_crosswalk(release: PathArg) -> ReleaseCrosswalk:
    """What a release shows for every pointer of the crosswalk."""
    manifest, verification = read_release(Path(release)).manifest, verify_release(release)
    pointers = dict.fromkeys(pointer for text in load_crosswalk() for line in text.lines for pointer in line.pointers)
    evidence = tuple(_evidence(pointer, manifest, verification) for pointer in pointers)
    return ReleaseCrosswalk(verification.release, verification.manifest, verification.holds, evidence)


def _evidence(pointer: Pointer, manifest: Manifest, verification: VerifyReport) -> Evidence:
    match pointer.kind:
        case PointerKind.MEASURE:
            judged = {(rule.protocol, rule.id) for rule in rules_measured_by(pointer.id)}
            results = [result for result in verification.rules if (result.protocol, result.rule) in judged]
            return Evidence(pointer, results=tuple(results))
        case PointerKind.FINDING:
            states = [finding.state for finding in verification.findings if finding.id == pointer.id]
            return Evidence(pointer, state=states[0] if states else None)
        case PointerKind.MANIFEST:
            return Evidence(pointer, count=_entries(getattr(manifest, pointer.id)))
        case PointerKind.DOCUMENT:
            files = [*manifest.files, *(manifest.forms or ())]
            return Evidence(pointer, count=sum(Path(name).stem == pointer.id for name in files))
        case _:
            return Evidence(pointer)


def _entries(value: object) -> int:
    """How many entries a field has; a figure stands for itself, and a text that is there for one."""
    if isinstance(value, int):
        return value
    if isinstance(value, str):
        return int(value not in ("", "none"))
    return len(value) if isinstance(value, Sized) else 0
