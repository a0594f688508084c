"""What leads from a pseudonym back to a person: keys and codebooks, in `private/keys/` alone, until they are destroyed.

Knows their files and the journal. While one exists the data are pseudonymous, not anonymous (MEL protocol III.4), and
three norms publish no pseudonyms at all. Overwriting cannot reach copies: backups are the owner's to destroy.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pyarrow as pa

from celosia.data.writers.csv import write_csv
from celosia.model.errors import UnknownFormat
from celosia.pipeline.project import journal as _journal
from celosia.pipeline.project.arguments import utc_now
from celosia.pipeline.project.errors import KeyInProject, PseudonymsRefused, SeedMissing
from celosia.pipeline.project.folder import Project, ProjectArg, open_project
from celosia.storage import (
    PRIVATE_FILE,
    atomic_write,
    flush_handle,
    make_private_folder,
    translate_read_errors,
    translate_write_errors,
)

KEY_FORMAT = "celosia/key/1"
CODEBOOK_FORMAT = "celosia/codebook/1"
DESTROYED_FORMAT = "celosia/destroyed/1"
KEY_BYTES = 32
NORMS_WITHOUT_PSEUDONYMS = ("minsal", "mel", "yapo", "ley21719")  # norms that publish no pseudonyms (P21)
PSEUDONYMOUS, NONE = "pseudonymous", "none"
_KEY, _CODEBOOK = ".key", ".codebook.csv"


@dataclass(frozen=True, slots=True)
class DestroyedKeys:
    """What was destroyed: how many keys and codebooks, and of which steps."""

    keys: int
    codebooks: int
    names: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """What was destroyed, as its versioned JSON."""
        return {
            "format": DESTROYED_FORMAT,
            "keys": self.keys,
            "codebooks": self.codebooks,
            "names": list(self.names),
        }


def key_for(keys: Path, step: str, fresh: bool = True) -> bytes:
    """The key of a step; drawn once, then the same until it is destroyed. `fresh` may draw one where none is kept."""
    path = keys / (_file_name(step) + _KEY)
    if not path.exists():
        if not fresh:
            raise SeedMissing(path=str(path))  # a new key would make another release and call it the same
        make_private_folder(path.parent)
        with atomic_write(path, PRIVATE_FILE) as draft:
            draft.write_text(f"{KEY_FORMAT}\n{secrets.token_bytes(KEY_BYTES).hex()}\n", "ascii", newline="\n")
    with translate_read_errors(path):
        return _key_in(path.read_bytes(), path)


def save_codebook(keys: Path, step: str, old: pa.Array, new: pa.Array) -> Path:
    """Keep which code stands for which identifier, readable by its owner only."""
    path = keys / (_file_name(step) + _CODEBOOK)
    make_private_folder(path.parent)
    texts = [column.cast(pa.large_string()) for column in (old, new)]
    batch = pa.record_batch(texts, names=["old", "new"])
    write_csv([batch], (f"{CODEBOOK_FORMAT} old", "new"), path)
    return path


def keys_present(project: Project) -> tuple[str, ...]:
    """The steps, and columns of steps, that have a key or a codebook in the project."""
    return tuple(sorted({unquote(_stem(path)) for path in _files(project)}))


def pseudonym_label(project: Project) -> str:
    """`pseudonymous` while anything in the project leads back to a person, else `none`."""
    return PSEUDONYMOUS if _files(project) else NONE


def destroy_keys(folder: ProjectArg, now: datetime | None = None) -> DestroyedKeys:
    """Overwrite and remove every key and codebook, and say so in the journal: counts and steps, never a value."""
    project = open_project(folder)
    files, names = _files(project), keys_present(project)
    if files:
        _journal.refuse_unwritable(project.paths.journal)
    for path in files:
        _destroy(path)
    codebooks = sum(path.name.endswith(_CODEBOOK) for path in files)
    done = DestroyedKeys(len(files) - codebooks, codebooks, names)
    if files:
        facts = {"keys": done.keys, "codebooks": done.codebooks, "names": list(names)}
        _journal.append_entry(project.paths.journal, "destroy-key", utc_now(now), facts)
    return done


def refuse_pseudonyms(protocols: Sequence[str], steps: Sequence[Mapping[str, Any]], keys: Sequence[str] = ()) -> None:
    """Stop steps that make pseudonyms, or keys still kept, where a norm publishes none; stop a key written in a file.

    `keys` is what `keys_present` gives at the moment of a release.
    """
    makes = [step for step in steps if str(step.get("technique", "")) == "pseudonymise"]
    for protocol in protocols:
        if protocol.lower().split("-")[0] in NORMS_WITHOUT_PSEUDONYMS and (makes or keys):
            raise PseudonymsRefused(protocol=protocol.upper())
    if any("key" in step for step in makes):
        raise KeyInProject()


def _file_name(step: str) -> str:
    """A step as a file name: different steps, different names, and none that leaves the folder."""
    return quote(step, safe=" ")


def _stem(path: Path) -> str:
    return path.name.removesuffix(_KEY).removesuffix(_CODEBOOK)


def _files(project: Project) -> list[Path]:
    """Every file among the keys, drafts of a killed process too."""
    return sorted(path for path in project.paths.keys.rglob("*") if path.is_file())


def _key_in(content: bytes, path: Path) -> bytes:
    first, _, rest = content.partition(b"\n")
    if first != KEY_FORMAT.encode():
        raise UnknownFormat(path=str(path), found="?", expected=KEY_FORMAT)
    try:
        key = bytes.fromhex(rest.decode("ascii").strip())
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise UnknownFormat(path=str(path), found="?", expected=KEY_FORMAT)
    return key


def _destroy(path: Path) -> None:
    """Overwrite a file in its own place, make sure of it on the disk, then remove it."""
    with translate_write_errors(path.parent):
        size = path.stat().st_size
        with path.open("r+b") as file:
            for start in range(0, size, 1 << 20):
                file.write(secrets.token_bytes(min(1 << 20, size - start)))
            file.flush()
            flush_handle(file.fileno())
        path.unlink()
