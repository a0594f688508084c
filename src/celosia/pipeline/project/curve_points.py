"""Whether 32 bytes are a public key that only its holder can sign for: a point of Ed25519's group of prime order.

Knows the curve. Ignores whose the key is. The curve has eight points of small order; under one of them a signature
that nobody made holds for any document, and libraries accept it. Sources: RFC 8032, 5.1; Chalkias et al., «Taming the
many EdDSAs» (2020).
"""

from __future__ import annotations

from functools import lru_cache

_P = 2**255 - 19
_ORDER = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, -1, _P) % _P
_ROOT = pow(2, (_P - 1) // 4, _P)  # a square root of -1
_NEUTRAL = (0, 1, 1, 0)
_Point = tuple[int, int, int, int]  # extended coordinates: x, y, z, t with x = X/Z, y = Y/Z, x * y = T/Z


@lru_cache(maxsize=1024)
def is_signing_point(encoded: bytes) -> bool:
    """Whether bytes are, in their one spelling, a point of the group of prime order other than its neutral element."""
    point = _decode(encoded)
    return point is not None and not _is_neutral(point) and _is_neutral(_times(_ORDER, point))


def _decode(encoded: bytes) -> _Point | None:
    """The point of an encoding (RFC 8032, 5.1.3); None where it is none or has another spelling."""
    number = int.from_bytes(encoded, "little")
    odd, y = number >> 255, number & (2**255 - 1)
    if len(encoded) != 32 or y >= _P:
        return None
    square = (y * y - 1) * pow(_D * y * y + 1, -1, _P) % _P
    x = pow(square, (_P + 3) // 8, _P)
    if x * x % _P != square:
        x = x * _ROOT % _P
    if x * x % _P != square or (x == 0 and odd):
        return None
    x = _P - x if x & 1 != odd else x
    return x, y, 1, x * y % _P


def _is_neutral(point: _Point) -> bool:
    x, y, z, _ = point
    return x == 0 and y == z


def _times(number: int, point: _Point) -> _Point:
    total = _NEUTRAL
    for bit in f"{number:b}":
        total = _sum(total, total)
        total = _sum(total, point) if bit == "1" else total
    return total


def _sum(first: _Point, second: _Point) -> _Point:
    """The sum of two points (RFC 8032, 5.1.4)."""
    a = (first[1] - first[0]) * (second[1] - second[0]) % _P
    b = (first[1] + first[0]) * (second[1] + second[0]) % _P
    c = 2 * first[3] * second[3] * _D % _P
    d = 2 * first[2] * second[2] % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P
