"""What a kept answer of the search was found from, as a digest: so that a page can tell whether it still answers.

A frontier looks at every k and limit, so adopting one of its points does not make it stale; a comparison of methods
does not depend on the method chosen. Each therefore leaves out of the digest what it varies.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from celosia.model.plan import Policy, digest_of
from celosia.pipeline._kept import digest_of_file
from celosia.pipeline._plan import dictionary_digest
from celosia.pipeline._policy import policy_of
from celosia.pipeline._project import Project, read_toml

VARIED: Mapping[str, tuple[str, ...]] = {
    "search": (),
    "frontier": ("k", "limit", "method", "order", "mask_sensitive", "suppressed", "reading", "time_limit"),
    "explanation": ("method", "order", "mask_sensitive", "suppressed", "reading", "time_limit"),
    "methods": ("method", "order", "metric"),
}


def policy_in_force(project: Project) -> Policy:
    """The policy that the project's files add up to now."""
    document = read_toml(project.folder / "celosia.toml")
    return policy_of(document, project.variables(), project.config.protocols)


def basis_of(project: Project, policy: Policy, report: str) -> str:
    """The digest of all that a report of the search depends on: source, dictionary, steps, hierarchies, policy."""
    varied = VARIED[report]
    held = {key: value for key, value in policy.as_dict().items() if key not in varied}
    if "k" in varied:
        held["criteria"] = [_without_k(data) for data in held["criteria"]]
    files = {name: digest_of_file(project.folder / str(spec["file"]))
             for name, spec in policy.hierarchies.items() if "file" in spec}  # fmt: skip
    steps = read_toml(project.folder / "celosia.toml").get("steps", [])
    return digest_of({"source": project.config.source.digest, "dictionary": dictionary_digest(project),
                      "policy": held, "hierarchies": files, "steps": _as_text(steps)})  # fmt: skip


def _without_k(data: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if (data.get("criterion"), key) != ("k", "k")}


def _as_text(steps: Any) -> str:
    """Steps as text: a TOML file may hold dates, which JSON does not know."""
    return repr(steps)
