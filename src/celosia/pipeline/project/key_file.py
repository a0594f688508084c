"""A private key as it lies on a disk: `celosia/key/2`, sealed under a passphrase with scrypt and AES-256-GCM.

Knows the derivation, its cost and the bytes of the file. Ignores where it lies and what is signed. The cost stands in
the file, so that it can grow; a file that asks for more than `_LARGEST` is refused before anything is computed. The
public key, the name and the cost are bound to what is sealed: a file in which one of them was changed does not open.
Sources: RFC 7914 (scrypt); OWASP Password Storage Cheat Sheet (n = 2^17, r = 8, p = 1: 128 MiB for each attempt).
"""

from __future__ import annotations

import contextlib
import json
import os
import unicodedata
from dataclasses import asdict, dataclass
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

KEY_FORMAT = "celosia/key/2"
_SALT, _NONCE, _KEY = 16, 12, 32  # bytes
_LARGEST_FILE = 64_000  # bytes: a key is ten lines


@dataclass(frozen=True, slots=True)
class Cost:
    """What one attempt at a passphrase costs: 128 · n · r bytes of memory, p times."""

    n: int
    r: int = 8
    p: int = 1


STANDARD = Cost(2**17)
_LEAST, _LARGEST = Cost(2**4, 1, 1), Cost(2**20, 16, 4)


class KeyFileDamaged(ValueError):
    """The bytes are no key of this format, or ask for an absurd cost."""


class KeyStaysSealed(ValueError):
    """The passphrase is another one, or the file was changed."""


def seal_key(private: Ed25519PrivateKey, name: str, passphrase: str, cost: Cost = STANDARD) -> bytes:
    """The bytes of a key file."""
    key = private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw).hex()
    salt, nonce = os.urandom(_SALT), os.urandom(_NONCE)
    header: dict[str, Any] = {"format": KEY_FORMAT, "name": name, "key": key, "cipher": "aes-256-gcm"}
    header |= {"kdf": {"name": "scrypt", **asdict(cost), "salt": salt.hex()}, "nonce": nonce.hex()}
    sealed = AESGCM(_derive(_one_spelling(passphrase), salt, cost)).encrypt(
        nonce, private.private_bytes_raw(), _associated_data(header)
    )
    return (json.dumps({**header, "sealed": sealed.hex()}, ensure_ascii=False, indent=2) + "\n").encode("utf-8")


def open_key(body: bytes, passphrase: str) -> tuple[str, Ed25519PrivateKey]:
    """Name and private key of a key file."""
    header, sealed = _read(body)
    kdf = header["kdf"]
    cost = Cost(kdf["n"], kdf["r"], kdf["p"])
    # As sealed now, and as sealed once by a system that writes letter and accent apart.
    for spelling in dict.fromkeys((_one_spelling(passphrase), passphrase)):
        with contextlib.suppress(InvalidTag, ValueError):
            secret = _derive(spelling, bytes.fromhex(kdf["salt"]), cost)
            raw = AESGCM(secret).decrypt(bytes.fromhex(header["nonce"]), sealed, _associated_data(header))
            return header["name"], Ed25519PrivateKey.from_private_bytes(raw)
    raise KeyStaysSealed


def is_key_file(body: bytes) -> bool:
    """Whether the bytes are JSON, as this format is; a PEM key of earlier versions begins with dashes."""
    return body.lstrip()[:1] == b"{"


def _read(body: bytes) -> tuple[dict[str, Any], bytes]:
    try:
        if len(body) > _LARGEST_FILE:
            raise KeyError
        document = json.loads(body.decode("utf-8"))
        sealed, kdf = bytes.fromhex(document.pop("sealed")), document["kdf"]
        known = (document["format"], document["cipher"], kdf["name"]) == (KEY_FORMAT, "aes-256-gcm", "scrypt")
        sizes = (len(bytes.fromhex(kdf["salt"])), len(bytes.fromhex(document["nonce"]))) == (_SALT, _NONCE)
        if not (known and sizes and isinstance(document["name"], str) and _is_affordable(kdf)):
            raise KeyError
        return document, sealed
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise KeyFileDamaged from None


def _is_affordable(kdf: dict[str, Any]) -> bool:
    numbers = [kdf[part] for part in ("n", "r", "p")]
    if not all(type(number) is int for number in numbers):
        return False
    least, largest = asdict(_LEAST).values(), asdict(_LARGEST).values()
    within = all(low <= number <= high for low, number, high in zip(least, numbers, largest, strict=True))
    return within and numbers[0] & (numbers[0] - 1) == 0


def _one_spelling(passphrase: str) -> str:
    """The passphrase with each letter and its accent as one sign: keyboards of macOS may give two (RFC 8265, 4.2)."""
    return unicodedata.normalize("NFC", passphrase)


def _derive(passphrase: str, salt: bytes, cost: Cost) -> bytes:
    return Scrypt(salt=salt, length=_KEY, n=cost.n, r=cost.r, p=cost.p).derive(passphrase.encode("utf-8"))


def _associated_data(header: dict[str, Any]) -> bytes:
    return json.dumps(header, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode("utf-8")
