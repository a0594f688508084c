"""What leads from a pseudonym back to a person: keys and codebooks, in `private/keys/` alone, until they are destroyed.

Knows their files and the journal. While one exists the data are pseudonymous, not anonymous (MEL protocol III.4), and
three norms publish no pseudonyms at all. Overwriting cannot reach copies: backups are the owner's to destroy.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pyarrow as pa

from celosia.data.files import PRIVATE_FILE, private_folder, reading_from, replacing, writing_into
from celosia.data.sheets import read_rows
from celosia.data.writers import write_csv
from celosia.errors import CodebookUnclear, KeyInProject, PseudonymsRefused, SeedMissing, UnknownFormat
from celosia.pipeline import _journal
from celosia.pipeline._call import Place, moment
from celosia.pipeline._project import open_project

KEY_FORMAT = "celosia/key/1"
CODEBOOK_FORMAT = "celosia/codebook/1"
DESTROYED_FORMAT = "celosia/destroyed/1"
KEY_BYTES = 32
REFUSING = ("minsal", "mel", "yapo")  # norms that publish no pseudonyms (P21)
PSEUDONYMOUS, NONE = "pseudonymous", "none"
_KEY, _CODEBOOK = ".key", ".codebook.csv"


@dataclass(frozen=True, slots=True)
class Destroyed:
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


def key_for(folder: Place, step: str, fresh: bool = True) -> bytes:
    """The key of a step; drawn once, then the same until it is destroyed. `fresh` may draw one where none is kept."""
    path = _home(folder) / (_file_name(step) + _KEY)
    if not path.exists():
        if not fresh:
            raise SeedMissing(path=str(path))  # a new key would make another release and call it the same
        private_folder(path.parent)
        with replacing(path, PRIVATE_FILE) as draft:
            draft.write_text(f"{KEY_FORMAT}\n{secrets.token_bytes(KEY_BYTES).hex()}\n", "ascii")
    with reading_from(path):
        return _key_in(path.read_bytes(), path)


def save_codebook(folder: Place, step: str, old: pa.Array, new: pa.Array) -> Path:
    """Keep which code stands for which identifier, readable by its owner only."""
    path = _home(folder) / (_file_name(step) + _CODEBOOK)
    private_folder(path.parent)
    texts = [column.cast(pa.large_string()) for column in (old, new)]
    batch = pa.record_batch(texts, names=["old", "new"])
    write_csv([batch], (f"{CODEBOOK_FORMAT} old", "new"), path)
    return path


def import_codebook(folder: Place, step: str, source: Place) -> Path:
    """Take in a codebook made elsewhere (two columns: identifier, code); from then on the data are pseudonymous."""
    project = open_project(folder)
    rows = [row for row in read_rows(Path(source))[1:] if row]
    unclear = sum(len(row) < 2 or not row[0] or not row[1] for row in rows)
    old = [row[0] for row in rows if len(row) > 1]
    repeated = len(old) - len(set(old))
    if unclear or repeated or not rows:
        raise CodebookUnclear(path=str(source), incomplete=unclear, repeated=repeated)
    new = [row[1] for row in rows]
    return save_codebook(project.folder, step, pa.array(old, pa.large_string()), pa.array(new, pa.large_string()))


def keys_present(folder: Place) -> tuple[str, ...]:
    """The steps, and columns of steps, that have a key or a codebook in the project."""
    return tuple(sorted({unquote(_stem(path)) for path in _files(folder)}))


def label(folder: Place) -> str:
    """`pseudonymous` while anything in the project leads back to a person, else `none`."""
    return PSEUDONYMOUS if _files(folder) else NONE


def destroy_keys(folder: Place, now: datetime | None = None) -> Destroyed:
    """Overwrite and remove every key and codebook, and say so in the journal: counts and steps, never a value."""
    project = open_project(folder)
    files, names = _files(project.folder), keys_present(project.folder)
    if files:
        _journal.refuse_unwritable(project.journal_path)
    for path in files:
        _destroy(path)
    codebooks = sum(path.name.endswith(_CODEBOOK) for path in files)
    done = Destroyed(len(files) - codebooks, codebooks, names)
    if files:
        facts = {"keys": done.keys, "codebooks": done.codebooks, "names": list(names)}
        _journal.append(project.journal_path, "destroy-key", moment(now), facts)
    return done


def refuse_pseudonyms(protocols: Sequence[str], steps: Sequence[Mapping[str, Any]], kept: Sequence[str] = ()) -> None:
    """Stop steps that make pseudonyms, or keys still kept, where a norm publishes none; stop a key written in a file.

    `kept` is what `keys_present` says, for the moment of a release.
    """
    makes = [step for step in steps if str(step.get("technique", "")) == "pseudonymise"]
    for protocol in protocols:
        if protocol.lower().split("-")[0] in REFUSING and (makes or kept):
            raise PseudonymsRefused(protocol=protocol.upper())
    if any("key" in step for step in makes):
        raise KeyInProject()


def _home(folder: Place) -> Path:
    return Path(folder) / "private" / "keys"


def _file_name(step: str) -> str:
    """A step as a file name: different steps, different names, and none that leaves the folder."""
    return quote(step, safe=" ")


def _stem(path: Path) -> str:
    return path.name.removesuffix(_KEY).removesuffix(_CODEBOOK)


def _files(folder: Place) -> list[Path]:
    home = _home(folder)
    return sorted(path for path in home.rglob("*") if path.is_file())  # drafts of a killed process too


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
    with writing_into(path.parent):
        size = path.stat().st_size
        with path.open("r+b") as file:
            for start in range(0, size, 1 << 20):
                file.write(secrets.token_bytes(min(1 << 20, size - start)))
            file.flush()
            os.fsync(file.fileno())
        path.unlink()
