"""One tree, three formats: the same text in each, escaped for it, the same bytes each time, nothing from outside."""

from __future__ import annotations

import io
import re
import zipfile
from datetime import datetime, timedelta

import docx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.dossier.document import (
    Block,
    Checks,
    Document,
    Fields,
    Heading,
    Items,
    Note,
    Paragraph,
    Picture,
    Signatures,
    Signer,
    Table,
)
from celosia.dossier.docx import to_docx
from celosia.dossier.page import to_html
from celosia.dossier.pdf import to_pdf, to_png
from tests.dossier.pdf_text import text_of
from tests.dossier.samples import NOW

SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"><rect width="40" height="20"></rect></svg>'
BLOCKS: tuple[Block, ...] = (
    Heading("Título uno"),
    Heading("Título dos", 2),
    Paragraph("Párrafo con ñ, á y «comillas»."),
    Items(("primero", "segundo")),
    Note("Nota aparte"),
    Fields((("Etiqueta", "Valor"), ("Vacía", ""))),
    Checks((("¿Sí?", True), ("¿No?", False), ("¿Nada?", None))),
    Table(("Nombre", "Caja", "Cifra"), (("SEXO", True, "12"), ("EDAD", False, "7")), (2.0, 1.0, 1.0), (2,)),
    Signatures((Signer("Jefatura", "Carla Núñez", "2026-11-15", "0f" * 64), Signer("Verificación"))),
    Picture(SVG, "Un dibujo"),
)
WORDS = (
    "Título uno", "Título dos", "Párrafo con ñ, á y «comillas».", "primero", "segundo", "Nota aparte", "Etiqueta",
    "Valor", "Vacía", "¿Nada?", "SEXO", "Cifra", "Jefatura", "Carla Núñez", "2026-11-15", "Un dibujo",
)  # fmt: skip
HOSTILE = (
    "#panic(1) *fuerte* _baja_ $x^2$ `c` <etiqueta> @cita \\ [x] https://outside.example",
    "<script>alert(1)</script><img src=x onerror=alert(2)>&amp;",
    "{{ 7 * 7 }} {% if x %} \"comillas\" 'simples'",
    "=HYPERLINK(1) #include \"/etc/passwd\" #read('x')",
)


def document(*blocks: Block, language: str = "es", paper: str = "us-letter", mark: str = "Interno") -> Document:
    return Document("Un título", "Un subtítulo", language, blocks or BLOCKS, paper, mark)


def words_of_docx(content: bytes) -> str:
    with zipfile.ZipFile(io.BytesIO(content)) as parts:
        xml = b" ".join(parts.read(name) for name in parts.namelist() if name.endswith((".xml", ".rels")))
    return xml.decode("utf-8", "replace")


def docx_text(content: bytes) -> str:
    opened = docx.Document(io.BytesIO(content))
    cells = [cell.text for table in opened.tables for row in table.rows for cell in row.cells]
    return "\n".join([*(paragraph.text for paragraph in opened.paragraphs), *cells])


@pytest.mark.parametrize("word", WORDS)
def test_every_block_speaks_in_the_three_formats(word: str) -> None:
    made = document()
    assert word in to_html(made)
    assert word in text_of(to_pdf(made, NOW))
    assert word in docx_text(to_docx(made, NOW))


def test_equal_documents_and_dates_give_equal_bytes() -> None:
    assert to_pdf(document(), NOW) == to_pdf(document(), NOW)
    assert to_docx(document(), NOW) == to_docx(document(), NOW)
    assert to_html(document()) == to_html(document())


def test_the_same_moment_in_another_zone_gives_the_same_bytes() -> None:
    from datetime import timezone

    elsewhere = NOW.astimezone(timezone(timedelta(hours=-4)))
    assert to_pdf(document(), elsewhere) == to_pdf(document(), NOW)
    assert to_docx(document(), elsewhere) == to_docx(document(), NOW)


def test_the_date_in_the_files_is_the_one_given() -> None:
    pdf = to_pdf(document(), NOW)
    assert b"/CreationDate(D:20261115120000Z)" in pdf
    assert b"/ModDate(D:20261115120000Z)" in pdf
    held = docx.Document(io.BytesIO(to_docx(document(), NOW))).core_properties
    assert held.created.replace(tzinfo=None) == held.modified.replace(tzinfo=None) == datetime(2026, 11, 15, 12, 0)


def test_no_author_or_program_of_the_machine_is_in_the_metadata() -> None:
    assert b"/Author" not in to_pdf(document(), NOW)
    held = docx.Document(io.BytesIO(to_docx(document(), NOW))).core_properties
    assert (held.author, held.last_modified_by, held.comments, held.keywords) == ("", "", "", "")
    with zipfile.ZipFile(io.BytesIO(to_docx(document(), NOW))) as parts:
        assert {info.date_time for info in parts.infolist()} == {(1980, 1, 1, 0, 0, 0)}


@pytest.mark.parametrize("text", HOSTILE)
def test_text_is_never_read_as_markup(text: str) -> None:
    """In every place a text may stand."""
    made = document(
        Heading(text), Paragraph(text), Items((text,)), Note(text), Fields(((text, text),)), Checks(((text, True),)),
        Table((text,), ((text,),)), Signatures((Signer(text, text, text, text),)), Picture(SVG, text),
    )  # fmt: skip
    made = Document(text, text, "es", made.blocks, mark=text)
    page = to_html(made)
    assert "<script" not in page
    assert "<img" not in page
    assert "49" not in page.split("<main>")[1]
    drawn = text_of(to_pdf(made, NOW)).replace(" ", "")
    assert drawn.count(text.replace(" ", "")[:15]) >= 8
    assert docx_text(to_docx(made, NOW)).count(text) >= 8


@settings(max_examples=25)
@given(st.text(max_size=40))
def test_any_text_can_be_printed(text: str) -> None:
    made = document(Paragraph(text), Fields(((text, text),)), Table((text,), ((text,),)))
    assert to_pdf(made, NOW).startswith(b"%PDF-")
    assert to_docx(made, NOW).startswith(b"PK")
    assert to_html(made).startswith("<!doctype html>")


def test_a_page_asks_nothing_from_outside_and_runs_nothing() -> None:
    page = to_html(document())
    outside = [link for link in re.findall(r"(?:https?:)?//[^\s\"'<]+", page) if "www.w3.org/2000/svg" not in link]
    assert outside == []
    assert not re.search(r"<(script|link|iframe|object|embed)\b|\bon\w+=|@import|url\(", page)
    assert "default-src 'none'" in page


def test_the_page_can_be_printed() -> None:
    page = to_html(document())
    assert "@media print" in page
    assert "@page { size: letter;" in page
    assert "@page { size: A4;" in to_html(document(paper="a4"))


@pytest.mark.parametrize(("language", "said"), [("es", ("Página", "sí")), ("en", ("Page", "yes"))])
def test_the_words_of_the_layout_follow_the_language(language: str, said: tuple[str, str]) -> None:
    text = text_of(to_pdf(document(language=language), NOW))
    assert all(word in text for word in said)
    assert f'lang="{language}"' in to_html(document(language=language))


def test_pages_are_numbered_and_carry_the_mark() -> None:
    many = document(*[Paragraph("línea " * 40)] * 60)
    text = text_of(to_pdf(many, NOW))
    pages = len(to_png(many, NOW))
    assert pages > 1
    assert text.count("Interno") == pages
    assert re.search(rf"Página {pages} de ?{pages}|Página {pages}", text)


def test_only_the_fonts_of_the_wheel_are_used_and_they_are_inside() -> None:
    pdf = to_pdf(document(), NOW)
    names = set(re.findall(rb"/BaseFont/[A-Z]{6}\+([A-Za-z]+)", pdf))
    assert names <= {b"LibertinusSerif", b"DejaVuSansMono", b"NewComputerModern"}
    assert len(re.findall(rb"/FontFile", pdf)) >= 1


def test_a_box_is_ticked_by_a_letter_that_can_be_read() -> None:
    def only(answer: bool | None) -> str:
        return text_of(to_pdf(document(Checks((("a", answer),))), NOW)).split("<?xpacket")[0]

    assert "X" in only(True)
    assert "X" in only(False)
    assert "X" not in only(None)


def test_a_long_word_stays_inside_its_box() -> None:
    """A digest breaks instead of running over the edge: it is drawn on more than one line."""
    digest = "sha256:" + "0f" * 32
    drawn = text_of(to_pdf(document(Fields((("Huella", digest),))), NOW))
    assert digest not in drawn
    assert digest in drawn.replace(" ", "")


def test_a_picture_goes_into_word_as_a_bitmap() -> None:
    with zipfile.ZipFile(io.BytesIO(to_docx(document(Picture(SVG, "x")), NOW))) as parts:
        media = [name for name in parts.namelist() if name.startswith("word/media/")]
        assert parts.read(media[0]).startswith(b"\x89PNG")
