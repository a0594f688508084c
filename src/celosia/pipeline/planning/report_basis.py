"""What a saved report of the search was found from, as a digest: so that a page can say whether it is out of date.

A frontier looks at every k and limit, so adopting one of its points does not make it stale; a comparison of methods
does not depend on the method chosen. Each therefore leaves out of the digest what it varies.
"""

from __future__ import annotations

from collections.abc import Mapping

from celosia.model.plan import Policy, digest_of
from celosia.pipeline.planning.policy import policy_of
from celosia.pipeline.project.files import digest_of_file
from celosia.pipeline.project.folder import Project
from celosia.system.paths import usable_path

VARIED: Mapping[str, tuple[str, ...]] = {
    "search": (),
    "frontier": ("k", "limit", "method", "order", "mask_sensitive", "suppressed", "reading", "time_limit"),
    "explanation": ("method", "order", "mask_sensitive", "suppressed", "reading", "time_limit"),
    "methods": ("method", "order", "metric"),
}


def current_policy(project: Project) -> Policy:
    """The policy that the project's files add up to now."""
    return policy_of(project.settings, project.variables, project.config.protocols)


def basis_of(project: Project, policy: Policy, report: str) -> str:
    """The digest of all that a report of the search depends on: source, dictionary, steps, hierarchies, policy."""
    varied = VARIED[report]
    settings = {key: value for key, value in policy.as_dict().items() if key not in varied}
    if "k" in varied:
        settings["criteria"] = [
            {key: value for key, value in data.items() if (data.get("criterion"), key) != ("k", "k")}
            for data in settings["criteria"]
        ]
    files = {
        name: digest_of_file(usable_path(project.folder / str(spec["file"])))
        for name, spec in policy.hierarchies.items()
        if "file" in spec
    }
    return digest_of(
        {
            "source": project.config.source.digest,
            "dictionary": project.dictionary_digest,
            "policy": settings,
            "hierarchies": files,
            "steps": repr(project.settings.get("steps", [])),  # TOML has dates, JSON has none
        }
    )
