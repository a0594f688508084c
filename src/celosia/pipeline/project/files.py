"""The files of a project, each read by itself and strictly: TOML, dictionary text, plan, approvals, place of the rows.

Knows formats and their errors. Ignores folders: it is given paths.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from pathlib import Path
from typing import Any

from celosia.model.errors import UnknownFormat
from celosia.model.people import Approval, approval_from
from celosia.model.place import PLACE_FORMAT, InPlace, place_from
from celosia.model.plan import PLAN_FORMAT, Plan, plan_from
from celosia.pipeline.project.arguments import PathArg
from celosia.pipeline.project.errors import ApprovalFileDamaged, BadProjectFile, NoPlan
from celosia.storage import translate_read_errors
from celosia.system.paths import is_system_file


def read_toml(path: Path) -> dict[str, Any]:
    """A TOML file; a syntax error names the line."""
    return parse_toml(path.read_bytes(), path)


def parse_toml(content: bytes, path: Path) -> dict[str, Any]:
    """The bytes of a TOML file, with or without a byte order mark."""
    try:
        return tomllib.loads(decode_text(content, "utf-8-sig"))
    except UnicodeDecodeError:
        raise BadProjectFile(path=str(path), line="?") from None
    except tomllib.TOMLDecodeError as error:
        # The rest of the message may quote the file.
        line = re.search(r"line (\d+)", str(error))
        raise BadProjectFile(path=str(path), line=line.group(1) if line else "?") from None


def decode_text(content: bytes, encoding: str = "utf-8") -> str:
    """Text with its line ends as Python reads them from a file."""
    return content.decode(encoding).replace("\r\n", "\n").replace("\r", "\n")


def read_plan(path: Path) -> Plan:
    """The plan in a file."""
    if not path.is_file():
        raise NoPlan(path=str(path.parent))
    try:
        document = json.loads(path.read_text("utf-8"))
        stated_format = document.get("format", "?")
    except (ValueError, AttributeError):
        stated_format = "?"
    if stated_format != PLAN_FORMAT:
        raise UnknownFormat(path=str(path), found=str(stated_format), expected=PLAN_FORMAT)
    try:
        return plan_from(document)
    except (KeyError, TypeError, ValueError):
        raise BadProjectFile(path=str(path), line="?") from None


def read_approvals(path: Path) -> tuple[Approval, ...]:
    """Every approval of a file, one a line, whether it counts or not; none where there is no file."""
    lines = path.read_bytes().split(b"\n") if path.is_file() else []
    approvals = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            approvals.append(_parse_approval(line))
        except (ValueError, KeyError, TypeError, RecursionError):
            raise ApprovalFileDamaged(path=str(path), line=number) from None
        if line in lines[: number - 1]:  # nobody approves twice on one state of the journal: somebody copied the line
            raise ApprovalFileDamaged(path=str(path), line=number)
    return tuple(approvals)


def _parse_approval(line: bytes) -> Approval:
    approval = approval_from(json.loads(line.decode("utf-8")))
    if approval_line(approval) != line:  # nothing may hide in it unsigned
        raise ValueError
    return approval


def approval_line(approval: Approval) -> bytes:
    """The only spelling of an approval in approvals.jsonl."""
    return json.dumps(approval.as_dict(), ensure_ascii=False, sort_keys=True).encode("utf-8")


def read_source_place(path: Path) -> InPlace:
    """The table of a database whose rows stay there."""
    try:
        document = json.loads(path.read_text("utf-8"))
        stated_format = str(document["format"])
        if stated_format == PLACE_FORMAT:
            return place_from(document)
    except (OSError, ValueError, KeyError, TypeError):
        raise BadProjectFile(path=str(path), line="?") from None
    raise UnknownFormat(path=str(path), found=stated_format, expected=PLACE_FORMAT)


def digest_of_bytes(content: bytes) -> str:
    """sha256 of some bytes, as files and reports of ours write it."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def digest_of_file(path: PathArg) -> str:
    """The digest of a file's bytes; that of an absent file is empty."""
    try:
        return digest_of_bytes(Path(path).read_bytes())
    except FileNotFoundError:
        return ""
    except OSError:
        with translate_read_errors(Path(path)):
            raise


def visible_paths(folder: Path) -> list[Path]:
    """What lies directly in a folder, by name, without files of the system and links that lead elsewhere."""
    with translate_read_errors(folder):
        paths = sorted(folder.iterdir(), key=lambda path: path.name)
    return [path for path in paths if not is_system_file(path.name) and path.resolve().parent == folder.resolve()]
