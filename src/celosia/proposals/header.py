"""Words inside a column name, and patterns over them.

Knows accents, case, separators, camel case, digits and words written together (FECHANAC, codcom).
Ignores what a word means: the topics say that.

A pattern is a few words that must appear in that order: `fec* nac*`. A star ends a stem; a leading `=` asks
for the whole name (articles, digits and words for a person aside): `=nombre` fits NOMBRE_PACIENTE and not
NOMBRE_COMUNA.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache

# The person a column speaks of adds nothing to what the column says.
PERSON_WORDS = frozenset(
    """
    paciente pac pcte persona personas usuario usuaria beneficiario beneficiaria titular encuestado encuestada
    entrevistado informante madre padre hijo hija afiliado afiliada alumno alumna estudiante trabajador trabajadora
    funcionario jefe jefa apoderado tutor cliente causante fallecido rn recien nacido ciudadano votante responsable
    conyuge contacto patient person client student worker mother father child
    """.split()
)
_FILLERS = frozenset(
    """
    de del la las el los o y e en a al por para the of and n no nro num numero
    """.split()
)
_SHORT_WORDS = frozenset({"id", "ap", "tp", "cd", "nm"})


def plain_text(text: str) -> str:
    """Lower case without accents; ñ becomes n."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFD", text)
    return "".join(c for c in decomposed if not unicodedata.combining(c)).casefold()


def split_words(name: str) -> tuple[str, ...]:
    """Words of a column name: `EdadTipo` and `EDAD_TIPO` give edad, tipo."""
    parted = re.sub(r"(?<=[a-záéíóúñ])(?=[A-ZÁÉÍÓÚÑ])|(?<=[A-Z])(?=[A-Z][a-z]{2})", " ", name)
    return tuple(re.findall(r"[a-z]+|[0-9]+", plain_text(parted)))


class Vocabulary:
    """Every word used by any pattern: what glued names are taken apart with."""

    def __init__(self, patterns: Iterable[str]) -> None:
        words = {word.lstrip("=") for pattern in patterns for word in pattern.split()}
        self.full = frozenset(w for w in words if not w.endswith("*")) | PERSON_WORDS
        self.stems = tuple(sorted(w[:-1] for w in words if w.endswith("*")))

    def knows(self, word: str) -> bool:
        """Whether some pattern uses the word or its stem."""
        return word in self.full or any(word.startswith(stem) for stem in self.stems)

    def words(self, name: str) -> tuple[str, ...]:
        """Words of a name, glued ones taken apart when every piece is known."""
        return tuple(piece for word in split_words(name) for piece in self._pieces(word))

    def _pieces(self, word: str) -> tuple[str, ...]:
        if self.knows(word) or len(word) < 5:
            return (word,)
        for cut in range(len(word) - 3, 1, -1):
            left, right = word[:cut], word[cut:]
            if self._can_begin_phrase(left) and (rest := self._remaining_words(right)):
                return (left, *rest)
        return (word,)

    def _can_begin_phrase(self, word: str) -> bool:
        return word in _SHORT_WORDS or (len(word) >= 3 and (word in self.full or word in self.stems))

    def _remaining_words(self, word: str) -> tuple[str, ...]:
        if len(word) >= 3 and self.knows(word):
            return (word,)
        pieces = self._pieces(word)
        return pieces if len(pieces) > 1 else ()


def matches(pattern: str, words: tuple[str, ...]) -> bool:
    """Whether the pattern's words appear in the name, in order."""
    if pattern.startswith("="):
        pattern_words = _words_of(pattern[1:])
        name_words = essential(words)
        return len(name_words) == len(pattern_words) and all(map(_fits, pattern_words, name_words))
    remaining = iter(words)
    return all(any(_fits(pattern_words, word) for word in remaining) for pattern_words in _words_of(pattern))


def essential(words: tuple[str, ...]) -> tuple[str, ...]:
    """Words without articles, digits and the words for a person."""
    remaining = tuple(w for w in words if w not in _FILLERS and not w.isdigit() and w not in PERSON_WORDS)
    return remaining or tuple(w for w in words if w not in _FILLERS and not w.isdigit()) or words


def _fits(pattern_word: str, word: str) -> bool:
    return word.startswith(pattern_word[:-1]) if pattern_word.endswith("*") else word == pattern_word


@cache
def _words_of(pattern: str) -> tuple[str, ...]:
    return tuple(pattern.split())


@cache
def weight(pattern: str) -> int:
    """How much a pattern says: its words, a whole name counting one more."""
    return len(pattern.split()) + pattern.startswith("=")
