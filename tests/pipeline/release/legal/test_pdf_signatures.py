"""Signed PDFs of forms, made by a real authority of the tests: what holds, and every forgery refused by its name."""

from __future__ import annotations

import asyncio
import hashlib
import io
import random
from datetime import timedelta

import pytest
import time_machine
from pyhanko.pdf_utils import generic
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.sign import signers
from pyhanko.sign.validation.dss import DocumentSecurityStore

from celosia.dossier.document import Document, Paragraph
from celosia.dossier.pdf import to_pdf
from celosia.errors import CelosiaError
from celosia.pipeline.release.errors import (
    PdfAltered,
    PdfChangedAfterwards,
    PdfChangesForm,
    PdfHidesWords,
    PdfNotCovered,
    PdfNotTheForm,
    PdfUnreadable,
    PdfUnsigned,
    SignatureStampWrong,
    SignatureWeak,
    SignerChainUnknown,
    SignerExpired,
    SignerNotForSigning,
    SignerNotYetValid,
    SignerRevoked,
    SignerSelfSigned,
    TrustMissing,
    TrustNotAuthority,
    TrustUnreadable,
)
from celosia.pipeline.release.legal.event_loops import allow_own_event_loop
from celosia.pipeline.release.legal.pdf_signatures import SignedForm, check_signed_pdf
from celosia.pipeline.release.legal.trust import Trust, read_trust
from tests.authority import YEAR, Authority, Holder, issue, make_authority, sign_pdf
from tests.projects.steps import NOW

DAY = timedelta(days=1)


def paper(*words: str) -> bytes:
    """The PDF of a small form."""
    return to_pdf(Document("Anexo I", "", "es", tuple(Paragraph(each) for each in words)), NOW)


def digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


@pytest.fixture(scope="module")
def authority() -> Authority:
    return make_authority(NOW)


@pytest.fixture(scope="module")
def form() -> bytes:
    return paper("Finalidad: datos abiertos.", "k = 5.")


@pytest.fixture(scope="module")
def ana(authority) -> Holder:
    return authority.signer("ANA MARÍA ROJAS PÉREZ", 10)


@pytest.fixture(scope="module")
def signed(form, ana) -> bytes:
    return sign_pdf(form, ana, "Firma1", moment=NOW)


@pytest.fixture
def check(authority, form):
    """The check of a PDF against the form, at a moment, by the authority of the tests unless another is given."""

    def run(content: bytes, now=NOW + DAY, *, trust: Trust | None = None, revoked=()) -> SignedForm:
        from cryptography import x509

        lists = tuple(x509.load_pem_x509_crl(each) for each in revoked)
        trust = trust or Trust((authority.root.certificate,), lists)
        return check_signed_pdf(content, "anexo.pdf", {"minsal_form.pdf": digest(form)}, "2026-11-15", trust, now)

    return run


# --- what holds -------------------------------------------------------------------------------------


def test_a_signed_form_is_recognised_with_its_signer_and_authority(check, signed, ana):
    result = check(signed)
    (signature,) = result.signatures
    assert result.form == "minsal_form.pdf"
    assert signature.certificate_name == "ANA MARÍA ROJAS PÉREZ"
    assert signature.anchor == "Raíz de prueba"
    assert signature.signed == NOW.isoformat(timespec="seconds")
    assert signature.stamped == ""


def test_three_people_sign_the_same_pdf_one_after_the_other(check, signed, authority):
    second = sign_pdf(signed, authority.signer("BETO SOTO", 11), "Firma2", moment=NOW)
    third = sign_pdf(second, authority.signer("CARLA DÍAZ", 12), "Firma3", moment=NOW, stamper=authority.stamper())
    names = [signature.certificate_name for signature in check(third).signatures]
    assert names == ["ANA MARÍA ROJAS PÉREZ", "BETO SOTO", "CARLA DÍAZ"]


def test_the_older_way_to_sign_a_pdf_is_accepted_too(check, form, ana):
    from pyhanko.sign.fields import SigSeedSubFilter

    content = sign_pdf(form, ana, "Firma1", moment=NOW, subfilter=SigSeedSubFilter.ADOBE_PKCS7_DETACHED)
    assert len(check(content).signatures) == 1


def test_a_visible_signature_is_accepted(check, form, ana):
    from pyhanko.sign.fields import SigFieldSpec, append_signature_field

    def add_field(writer):
        append_signature_field(writer, SigFieldSpec("Firma1", on_page=0, box=(50, 50, 250, 110)))

    assert len(check(sign_pdf(form, ana, "Firma1", moment=NOW, edit=add_field)).signatures) == 1


def test_a_document_time_stamp_and_proofs_of_validity_may_follow(check, signed, authority):
    content = add_proofs(signed, authority, [])
    stamped = signers.PdfTimeStamper(authority.stamper(NOW + DAY))
    stamp = allow_own_event_loop(stamped.timestamp_pdf)
    content = stamp(IncrementalPdfFileWriter(io.BytesIO(content)), "sha256").getvalue()
    (signature,) = check(content, NOW + 2 * YEAR).signatures
    assert signature.stamped == (NOW + DAY).isoformat(timespec="seconds")
    assert signature.stamp_authority == "Raíz de prueba: sello de tiempo"


def test_an_expired_certificate_holds_where_a_time_stamp_proves_that_it_signed_before(check, form, ana, authority):
    stamped = sign_pdf(form, ana, "Firma1", moment=NOW, stamper=authority.stamper())
    (signature,) = check(stamped, NOW + 3 * YEAR).signatures
    assert signature.stamped == NOW.isoformat(timespec="seconds")


def test_a_notebook_that_runs_an_event_loop_verifies_too(check, form, ana):
    signed = sign_pdf(form, ana, "Firma1", moment=NOW)

    async def cell() -> SignedForm:
        return check(signed)

    # The browser's driver may keep a loop in this thread.
    assert allow_own_event_loop(lambda: asyncio.run(cell()))().signatures


def test_a_certificate_revoked_after_the_time_stamp_holds(check, form, ana, authority):
    stamped = sign_pdf(form, ana, "Firma1", moment=NOW, stamper=authority.stamper())
    assert check(stamped, NOW + 9 * DAY, revoked=[authority.revoke(ana, NOW + DAY)]).signatures


# --- what is refused --------------------------------------------------------------------------------


def test_a_pdf_altered_in_one_byte_of_what_the_signature_covers_is_refused(check, signed, form):
    place = signed.index(b"/SigFlags", len(form))
    altered = signed[:place] + signed[place:].replace(b"/SigFlags 3", b"/SigFlags 1", 1)
    assert altered != signed
    with pytest.raises(PdfAltered, match="ANA MARÍA ROJAS PÉREZ"):
        check(altered)


def test_a_form_altered_in_one_byte_is_no_form_of_the_release(check, signed, form):
    altered = bytearray(signed)
    altered[len(form) // 2] ^= 1
    with pytest.raises(PdfNotTheForm):
        check(bytes(altered))


def test_a_rightly_signed_pdf_of_another_form_is_refused(check, ana):
    with pytest.raises(PdfNotTheForm, match="2026-11-15"):
        check(sign_pdf(paper("Finalidad: otra."), ana, "Firma1", moment=NOW))


def test_an_expired_certificate_is_refused_without_a_time_stamp(check, signed):
    with pytest.raises(SignerExpired, match="sello de tiempo"):
        check(signed, NOW + 2 * YEAR)


def test_a_certificate_that_had_expired_when_it_signed_is_refused_with_a_time_stamp_too(check, form, authority):
    old = authority.signer("ANA ROJAS", 13, since=NOW - 2 * YEAR, until=NOW - DAY)
    content = sign_pdf(form, old, "Firma1", moment=NOW, stamper=authority.stamper())
    with pytest.raises(SignerExpired):
        check(content)


def test_a_stated_moment_cannot_make_an_expired_certificate_hold(check, form, authority):
    old = authority.signer("ANA ROJAS", 13, since=NOW - 2 * YEAR, until=NOW - DAY)
    with pytest.raises(SignerExpired):
        check(sign_pdf(form, old, "Firma1", moment=NOW - 2 * DAY))


def test_a_time_stamp_of_an_unknown_authority_proves_nothing(check, form, ana):
    stranger = make_authority(NOW, first=30, name="Otra raíz")
    content = sign_pdf(form, ana, "Firma1", moment=NOW, stamper=stranger.stamper())
    assert check(content).signatures[0].stamped == ""
    with pytest.raises(SignerExpired):
        check(content, NOW + 2 * YEAR)


def test_a_certificate_that_was_not_valid_yet_is_refused(check, form, authority):
    future = authority.signer("ANA ROJAS", 13, since=NOW + 9 * DAY, until=NOW + YEAR)
    with pytest.raises(SignerNotYetValid):
        check(sign_pdf(form, future, "Firma1", moment=NOW))


def test_a_signature_dated_in_the_future_is_refused(check, form, ana):
    with pytest.raises(SignerNotYetValid):
        check(sign_pdf(form, ana, "Firma1", moment=NOW + 30 * DAY))


def test_a_certificate_of_another_authority_is_refused(check, form):
    stranger = make_authority(NOW, first=30, name="Otra raíz")
    with pytest.raises(SignerChainUnknown, match="Otra raíz: firma de personas"):
        check(sign_pdf(form, stranger.signer("ANA ROJAS", 40), "Firma1", moment=NOW))


def test_an_authority_of_the_same_name_with_another_key_is_refused(check, form):
    impostor = make_authority(NOW, first=30)
    with pytest.raises(SignerChainUnknown):
        check(sign_pdf(form, impostor.signer("ANA ROJAS", 40), "Firma1", moment=NOW))


def test_a_self_signed_certificate_is_refused(check, form):
    alone = issue("ANA ROJAS", 41, since=NOW - YEAR, until=NOW + YEAR)
    with pytest.raises(SignerSelfSigned):
        check(sign_pdf(form, alone, "Firma1", moment=NOW))


def test_a_person_cannot_issue_certificates_to_others(check, form, ana):
    smuggled = issue("CARLA DÍAZ", 42, ana, since=NOW - YEAR, until=NOW + YEAR)
    with pytest.raises(SignerChainUnknown):
        check(sign_pdf(form, smuggled, "Firma1", moment=NOW))


def test_a_certificate_that_was_issued_for_something_else_does_not_sign(check, form, authority):
    server = issue("SERVIDOR", 43, authority.intermediate, authority=True, since=NOW - YEAR, until=NOW + YEAR)
    with pytest.raises(SignerNotForSigning):
        check(sign_pdf(form, server, "Firma1", moment=NOW))


def test_a_certificate_revoked_by_a_list_that_was_given_is_refused(check, signed, ana, authority):
    with pytest.raises(SignerRevoked, match=str(NOW.year)):
        check(signed, revoked=[authority.revoke(ana, NOW)])


def test_an_old_list_of_revoked_certificates_still_counts(check, form, authority):
    lasting = authority.signer("ANA ROJAS", 14, since=NOW - 3 * YEAR, until=NOW + YEAR)
    revoked = authority.revoke(lasting, NOW - YEAR)
    with pytest.raises(SignerRevoked):
        check(sign_pdf(form, lasting, "Firma1", moment=NOW), revoked=[revoked])


def test_a_certificate_revoked_by_a_list_inside_the_pdf_is_refused(check, signed, ana, authority):
    with pytest.raises(SignerRevoked):
        check(add_proofs(signed, authority, [authority.revoke(ana, NOW)]))


def test_a_list_of_revoked_certificates_that_another_authority_signed_says_nothing(check, signed, ana):
    impostor = make_authority(NOW, first=30)
    assert check(signed, revoked=[impostor.revoke(ana, NOW)]).signatures


def test_a_pdf_changed_after_the_signature_is_refused(check, signed):
    with pytest.raises(PdfChangedAfterwards, match="ANA MARÍA ROJAS PÉREZ"):
        check(overwrite_page(signed))


def test_a_note_added_after_the_signature_is_refused(check, signed):
    with pytest.raises(PdfChangedAfterwards):
        check(add_annotation(signed))


def test_a_change_before_the_signature_of_what_the_form_shows_is_refused(check, form, ana):
    def replace_words(writer):
        writer.root["/Pages"]["/Kids"][0]["/Contents"] = writer.add_object(generic.StreamObject(stream_data=b"q Q"))
        writer.update_container(writer.root["/Pages"]["/Kids"][0])

    with pytest.raises(PdfChangesForm):
        check(sign_pdf(form, ana, "Firma1", moment=NOW, edit=replace_words))


def visible(form, holder, *box):
    """The form signed with a stamp that is seen in a rectangle of its first page."""
    from pyhanko.sign.fields import SigFieldSpec, append_signature_field

    def add_field(writer):
        append_signature_field(writer, SigFieldSpec("Firma1", on_page=0, box=box))

    return sign_pdf(form, holder, "Firma1", moment=NOW, edit=add_field)


def word_boxes(form):
    from pyhanko.pdf_utils.reader import PdfFileReader

    from celosia.pipeline.release.legal.pdf_words import words_of

    page = PdfFileReader(io.BytesIO(form)).root["/Pages"]["/Kids"][0]
    return words_of(page)


def test_the_words_of_a_form_are_found_where_they_stand(form):
    title, *paragraphs, footer = word_boxes(form)
    assert title.left == pytest.approx(612 - title.right, abs=1)  # it is centred
    assert [round(box.left, 1) for box in paragraphs] == [62.4, 62.4]
    assert footer.top < 60 < paragraphs[-1].bottom < paragraphs[0].bottom < title.bottom


def test_a_stamp_over_words_of_the_form_is_refused_and_one_in_an_empty_place_is_not(check, form, ana):
    boxes = word_boxes(form)
    last, footer = boxes[-2], boxes[-1]
    over_its_beginning = (last.left - 5, last.bottom - 5, last.left + 20, last.top + 20)
    across = (0, footer.bottom - 5, 612, footer.top + 5)
    for box in (over_its_beginning, across, (0, 0, 612, 792)):
        with pytest.raises(PdfHidesWords):
            check(visible(form, ana, *map(int, box)))
    assert check(visible(form, ana, 62, 300, 250, 360)).signatures
    below = int(last.bottom)
    assert check(visible(form, ana, 62, below - 60, 250, below - 1)).signatures


def test_a_change_between_two_signatures_is_refused(check, signed, authority):
    content = sign_pdf(overwrite_page(signed), authority.signer("BETO SOTO", 11), "Firma2", moment=NOW)
    with pytest.raises((PdfChangedAfterwards, PdfChangesForm)):
        check(content)


def test_bytes_behind_the_last_signature_are_not_covered(check, signed):
    with pytest.raises((PdfNotCovered, PdfUnreadable)):
        check(signed + b"\n% nadie firmo esto\n")


def test_a_signature_that_leaves_out_a_part_of_the_file_is_refused(check, form, ana):
    with pytest.raises(PdfNotCovered):
        check(sign_with_hole(form, ana))


def test_a_signature_by_sha1_is_refused(check, form, ana):
    with pytest.raises(SignatureWeak):
        check(sign_weakly(form, ana))


def test_the_time_stamp_of_another_signature_is_refused(check, form, ana, authority):
    class Replayed(type(authority.stamper())):
        async def async_timestamp(self, message_digest, md_algorithm):
            return await super().async_timestamp(hashlib.sha256(b"otra").digest(), md_algorithm)

    holder = authority.stamping
    replayed = Replayed(holder.parsed, holder.parsed_key, certs_to_embed=holder.registry, fixed_dt=NOW)
    with pytest.raises(SignatureStampWrong):
        check(sign_pdf(form, ana, "Firma1", moment=NOW, stamper=replayed))


def test_an_unsigned_form_is_refused(check, form):
    with pytest.raises(PdfUnsigned):
        check(form)


def test_what_is_no_pdf_is_refused(check):
    with pytest.raises(PdfUnreadable):
        check(b"PK\x03\x04 nada")


def test_damage_anywhere_behind_the_form_never_holds_nor_shows_foreign_words(check, signed, form):
    chance = random.Random(7)
    for _ in range(60):
        damaged = bytearray(signed)
        for _ in range(chance.randint(1, 4)):
            damaged[chance.randrange(len(form), len(signed))] = chance.randrange(256)
        if bytes(damaged).lower() == signed.lower():
            continue
        with pytest.raises(CelosiaError):
            check(bytes(damaged[: chance.choice([len(damaged), len(damaged) - 40])]))


# --- authorities ------------------------------------------------------------------------------------


def test_authorities_are_read_from_a_folder_with_their_lists(tmp_path, authority, ana):
    (tmp_path / "raiz.pem").write_bytes(authority.root.pem)
    (tmp_path / "revocados.crl").write_bytes(authority.revoke(ana, NOW))
    (tmp_path / "LEEME.txt").write_text("de dónde vienen", "utf-8")
    trust = read_trust([tmp_path])
    assert len(trust.authorities) == len(trust.revoked) == 1


def test_a_person_is_no_authority(tmp_path, ana):
    (tmp_path / "ana.pem").write_bytes(ana.pem)
    with pytest.raises(TrustNotAuthority, match="ANA MARÍA"):
        read_trust([tmp_path])


def test_an_empty_folder_declares_nobody_and_nonsense_is_named(tmp_path):
    with pytest.raises(TrustMissing):
        read_trust([tmp_path])
    (tmp_path / "raiz.pem").write_text("nada", "utf-8")
    with pytest.raises(TrustUnreadable, match="raiz"):
        read_trust([tmp_path])


# --- forgeries --------------------------------------------------------------------------------------


def add_proofs(content: bytes, authority: Authority, lists: list[bytes]) -> bytes:
    """The same PDF with certificates and lists of revoked ones in its security store."""
    from asn1crypto import crl
    from cryptography import x509

    from celosia.pipeline.release.legal.trust import der

    writer = IncrementalPdfFileWriter(io.BytesIO(content))
    parsed = [crl.CertificateList.load(der(x509.load_pem_x509_crl(each))) for each in lists]
    DocumentSecurityStore.supply_dss_in_writer(
        writer, None, certs=[authority.intermediate.parsed, authority.root.parsed], crls=parsed
    )
    output = io.BytesIO()
    writer.write(output)
    return output.getvalue()


def overwrite_page(content: bytes) -> bytes:
    """An update that gives the first page other words."""
    writer = IncrementalPdfFileWriter(io.BytesIO(content))
    page = writer.root["/Pages"]["/Kids"][0]
    page["/Contents"] = writer.add_object(generic.StreamObject(stream_data=b"BT ET"))
    writer.update_container(page)
    output = io.BytesIO()
    writer.write(output)
    return output.getvalue()


def add_annotation(content: bytes) -> bytes:
    """An update that puts a note on the first page."""
    writer = IncrementalPdfFileWriter(io.BytesIO(content))
    name = generic.NameObject
    box = generic.ArrayObject([generic.NumberObject(number) for number in (10, 10, 90, 40)])
    note = {name("/Type"): name("/Annot"), name("/Subtype"): name("/FreeText"), name("/Rect"): box}
    page = writer.root["/Pages"]["/Kids"][0]
    page["/Annots"] = generic.ArrayObject([writer.add_object(generic.DictionaryObject(note))])
    writer.update_container(page)
    output = io.BytesIO()
    writer.write(output)
    return output.getvalue()


@allow_own_event_loop
def sign_weakly(content: bytes, holder: Holder) -> bytes:
    signer = signers.SimpleSigner(holder.parsed, holder.parsed_key, holder.registry)
    with time_machine.travel(NOW, tick=False):
        metadata = signers.PdfSignatureMetadata(field_name="Firma1", md_algorithm="sha1")
        writer = IncrementalPdfFileWriter(io.BytesIO(content))
        return signers.PdfSigner(metadata, signer).sign_pdf(writer).getvalue()


@allow_own_event_loop
def sign_with_hole(content: bytes, holder: Holder) -> bytes:
    """Signed for real over two ranges that leave out bytes besides the signature's own value."""
    signed = sign_pdf(content, holder, "Firma1", moment=NOW)
    start = signed.index(b"/ByteRange", len(content))
    first, last = signed.index(b"[", start), signed.index(b"]", start)
    numbers = [int(number) for number in signed[first + 1 : last].split()]
    # The first range ends well before the value of the signature: what lies between could say anything.
    numbers[1] -= 40
    ranges = b"[" + b" ".join(str(number).encode() for number in numbers)
    holed = signed[:first] + ranges.ljust(last - first) + signed[last:]
    covered = holed[: numbers[1]] + holed[numbers[2] : numbers[2] + numbers[3]]
    signer = signers.SimpleSigner(holder.parsed, holder.parsed_key, holder.registry)
    with time_machine.travel(NOW, tick=False):
        made = asyncio.run(signer.async_sign(hashlib.sha256(covered).digest(), "sha256", use_pades=True))
    value = made.dump().hex().encode()
    place = signed.index(b"/Contents <", len(content))
    opening, closing = signed.index(b"<", place), signed.index(b">", place)
    return holed[: opening + 1] + value.ljust(closing - opening - 1, b"0") + holed[closing:]
