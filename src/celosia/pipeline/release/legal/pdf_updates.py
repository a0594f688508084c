"""What an incremental update may add to a form: signatures, time stamps and proofs of validity, nothing that is read.

Knows pyHanko's rules for updates after a signature and applies them from the form itself on, so that the update that
carries the first signature is judged like the later ones. Sources: ISO 32000-2, 12.8; ETSI EN 319 142-1, 5.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyhanko.pdf_utils import generic
from pyhanko.pdf_utils.reader import HistoricalResolver, PdfFileReader
from pyhanko.sign.diff_analysis import (
    CatalogModificationRule,
    DiffResult,
    DocInfoRule,
    DSSCompareRule,
    FormUpdatingRule,
    MetadataUpdateRule,
    ModificationLevel,
    ObjectStreamRule,
    SigFieldCreationRule,
    SigFieldModificationRule,
    StandardDiffPolicy,
    XrefStreamRule,
)
from pyhanko.sign.diff_analysis.constants import ACROFORM_EXEMPT_STRICT_COMPARISON, ROOT_EXEMPT_STRICT_COMPARISON

_FORM, _FIELDS = generic.NameObject("/AcroForm"), generic.NameObject("/Fields")


class _WithEmptyForm:
    """A revision without fields to fill in, shown as one whose list of fields is empty."""

    def __init__(self, revision: HistoricalResolver) -> None:
        self._revision = revision
        self.root = generic.DictionaryObject(
            {**revision.root, _FORM: generic.DictionaryObject({_FIELDS: generic.ArrayObject()})}
        )

    def __getattr__(self, name: str) -> Any:
        return getattr(self._revision, name)


class _FirstFields(FormUpdatingRule):
    """The rule on fields, also where the earlier revision has none."""

    def apply(self, old: Any, new: HistoricalResolver) -> Iterator[Any]:
        if _FORM not in new.root and _FORM not in old.root:
            return
        yield from super().apply(old if _FORM in old.root else _WithEmptyForm(old), new)


_LONG_TERM = ModificationLevel.LTA_UPDATES
# A signature that certifies the document is named in the catalogue, under /Perms.
_CATALOGUE = CatalogModificationRule(ROOT_EXEMPT_STRICT_COMPARISON | {"/Perms"})
_FIELD_RULES = _FirstFields(
    [SigFieldCreationRule(), SigFieldModificationRule()], ACROFORM_EXEMPT_STRICT_COMPARISON | {"/SigFlags"}
)
_STRUCTURE = (DocInfoRule, XrefStreamRule, ObjectStreamRule, DSSCompareRule, MetadataUpdateRule)
_POLICY = StandardDiffPolicy([_CATALOGUE, *(rule().as_qualified(_LONG_TERM) for rule in _STRUCTURE)], _FIELD_RULES)


def shows_the_form(reader: PdfFileReader) -> bool:
    """Whether every update since the form itself added signatures, time stamps and proofs, and nothing else."""
    return isinstance(_POLICY.review_file(reader, 0), DiffResult)
