"""A person's key pair: Ed25519, kept outside every project, its private half sealed under a passphrase.

Knows keys, cards and signatures. Ignores what is signed. A key inside a project would travel with every copy of it.
A key of earlier versions (PEM, PBKDF2 with 2,048 rounds) is sealed anew as soon as its passphrase opened it.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
)

from celosia.errors import CelosiaError
from celosia.model.paths import ProjectPaths
from celosia.pipeline.project.arguments import PathArg
from celosia.pipeline.project.author import card_path, identity_path
from celosia.pipeline.project.errors import (
    IdentityDamaged,
    IdentityInsideProject,
    IdentityMissing,
    NameNeeded,
    WrongPassphrase,
)
from celosia.pipeline.project.key_file import (
    STANDARD,
    Cost,
    KeyFileDamaged,
    KeyStaysSealed,
    is_key_file,
    open_key,
    seal_key,
)
from celosia.pipeline.project.passphrases import refuse_weak
from celosia.pipeline.project.people import is_key, is_name
from celosia.storage import PRIVATE_FILE, AlreadyExists, atomic_write, exclusive_lock, make_private_folder

IDENTITY_FORMAT = "celosia/identity/1"
_LOCK = ".identity.lock"
_LARGEST_CARD = 64_000  # bytes: a card is two lines
_SIGNATURE = re.compile(r"[0-9a-f]{128}")


@dataclass(frozen=True, slots=True)
class Identity:
    """An opened key, ready to sign."""

    name: str
    key: str  # the public half, hexadecimal
    private: Ed25519PrivateKey

    def sign(self, document: dict[str, Any]) -> str:
        """The signature over a document in its canonical JSON, hexadecimal."""
        return self.private.sign(canonical(document)).hex()


def new_identity(
    name: str,
    passphrase: str,
    path: PathArg | None = None,
    *,
    noted: Callable[[Identity], None] | None = None,
    cost: Cost = STANDARD,
) -> Identity:
    """Make a key pair; the public half is written beside it, to be sent to the person who administers the project.

    `noted` is called when all is ready, just before the key is there: no key stands that a journal does not know.
    A cheaper `cost` is for tests alone.
    """
    target = Path(path) if path is not None else identity_path()
    name = " ".join(name.split())
    if not is_name(name):
        raise NameNeeded()
    if target.exists():
        raise AlreadyExists(path=str(target))
    _refuse_project(target)
    refuse_weak(passphrase, name)
    private = Ed25519PrivateKey.generate()
    body = seal_key(private, name, passphrase, cost)
    if not target.parent.exists():  # a folder that stands keeps its mode: it may be shared, and is not ours
        make_private_folder(target.parent)
    made = Identity(name, public_hex(private.public_key()), private)
    with exclusive_lock(target.parent / _LOCK):  # of two who make one key at once, the second finds that of the first
        if target.exists():
            raise AlreadyExists(path=str(target))
        _write(made, body, target, noted)
    return made


def _write(made: Identity, body: bytes, target: Path, noted: Callable[[Identity], None] | None) -> None:
    card = {"format": IDENTITY_FORMAT, "name": made.name, "key": made.key}
    with atomic_write(card_path(target), 0o644) as draft:
        draft.write_text(json.dumps(card, ensure_ascii=False, indent=2) + "\n", "utf-8", newline="\n")
    with atomic_write(target, PRIVATE_FILE) as draft:
        draft.write_bytes(body)
        if noted is not None:
            noted(made)


def load_identity(passphrase: str, path: PathArg | None = None, *, cost: Cost = STANDARD) -> Identity:
    """Open a key with its passphrase; one of an earlier version is sealed anew at `cost` once it opened."""
    target = Path(path) if path is not None else identity_path()
    try:
        body = target.read_bytes()
    except OSError:
        raise IdentityMissing(path=str(target)) from None
    card_name, card_key = read_card(card_path(target))
    try:
        name, private = open_key(body, passphrase) if is_key_file(body) else (card_name, _open_pem(body, passphrase))
    except KeyStaysSealed:
        raise WrongPassphrase(path=str(target)) from None
    except KeyFileDamaged:
        raise IdentityDamaged(path=str(target)) from None
    identity = Identity(name, public_hex(private.public_key()), private)
    if (identity.name, identity.key) != (card_name, card_key):
        # The card is what others compare with: a key must not sign under another one.
        raise IdentityDamaged(path=str(target))
    if not is_key_file(body):
        _migrate(identity, body, passphrase, target, cost)
    return identity


def _open_pem(body: bytes, passphrase: str) -> Ed25519PrivateKey:
    """The key of a PEM file, as earlier versions wrote it."""
    try:
        private = load_pem_private_key(body, passphrase.encode("utf-8"))
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise KeyStaysSealed from None
    if not isinstance(private, Ed25519PrivateKey):
        raise KeyFileDamaged
    return private


def _migrate(identity: Identity, body: bytes, passphrase: str, target: Path, cost: Cost) -> None:
    """Put the present format in the place of an old key, in one step; where nothing can be written it stays old."""
    sealed = seal_key(identity.private, identity.name, passphrase, cost)
    with contextlib.suppress(CelosiaError, OSError), exclusive_lock(target.parent / _LOCK):
        if target.read_bytes() == body:  # nobody migrated it meanwhile
            with atomic_write(target, PRIVATE_FILE) as draft:
                draft.write_bytes(sealed)


def read_card(path: PathArg) -> tuple[str, str]:
    """Name and public key of the card a person sends."""
    try:
        with Path(path).open("rb") as stream:
            card = json.loads(stream.read(_LARGEST_CARD + 1).decode("utf-8"))
            name, key = str(card["name"]), str(card["key"])
            if card["format"] != IDENTITY_FORMAT or stream.tell() > _LARGEST_CARD or not is_name(name):
                raise KeyError
        if not is_key(key):
            raise KeyError
        return name, key
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise IdentityMissing(path=str(path)) from None


def public_hex(key: Ed25519PublicKey) -> str:
    """A public key as people.toml holds it."""
    return key.public_bytes(Encoding.Raw, PublicFormat.Raw).hex()


def is_signed(document: dict[str, Any], signature: str, key: str) -> bool:
    """Whether the signature is this key's over this document, both in their one spelling."""
    try:
        if _SIGNATURE.fullmatch(signature) is None or not is_key(key):
            return False
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)).verify(bytes.fromhex(signature), canonical(document))
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def _refuse_project(target: Path) -> None:
    if any(ProjectPaths(folder).settings.is_file() for folder in target.absolute().parents):
        raise IdentityInsideProject(path=str(target))


def canonical(document: dict[str, Any]) -> bytes:
    """A document's bytes as they are signed: sorted keys, no blanks, UTF-8."""
    return json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode("utf-8")
