"""The bill of materials of a release (CycloneDX 1.6), from a lock, and its check against the published schema.

python scripts/materials.py write LOCK FILE     with celosia
python scripts/materials.py check FILE          with cyclonedx-bom (requirements/materials.lock)
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def write_materials(lock: Path, target: Path) -> None:
    """What celosia and the packages of a lock are made of."""
    from celosia.bundle.lock import read_entries
    from celosia.bundle.materials import bill_of_materials

    document = bill_of_materials(read_entries(lock.read_text("utf-8")))
    target.write_text(json.dumps(document, indent=1) + "\n", "utf-8", newline="\n")


def check_materials(path: Path) -> None:
    """Stop where the file is not what CycloneDX's schema asks for."""
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    fault = JsonStrictValidator(SchemaVersion.V1_6).validate_str(path.read_text("utf-8"))
    if fault is not None:
        raise SystemExit(f"{path}: {fault}")
    print(f"{path}: CycloneDX 1.6")


if __name__ == "__main__":
    verb, *paths = sys.argv[1:]
    {"write": write_materials, "check": check_materials}[verb](*map(Path, paths))
