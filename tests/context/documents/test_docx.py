"""What stands in a DOCX, case by case, as Markdown."""

from __future__ import annotations

import pytest

from priompt_py.context.documents.docx import read_docx
from priompt_py.context.documents.docx_parts import _roman, _written
from tests.context.documents import files
from tests.context.documents.files import WORD, paragraph


def text(body: str, *members: tuple[str, str | bytes]) -> str:
    return "".join(read_docx(files.docx(body, *members)))


def item(said: str, list_id: int = 1, level: int = 0) -> str:
    return (
        f'<w:p><w:pPr><w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{list_id}"/></w:numPr></w:pPr>'
        f"<w:r><w:t>{said}</w:t></w:r></w:p>"
    )


def numbering(*levels: tuple[str, str], more: str = "") -> tuple[str, str]:
    """List 1 and 2 of one kind, whose levels have these formats and patterns; ``more`` stands inside list 2."""
    kind = "".join(
        f'<w:lvl w:ilvl="{n}"><w:start w:val="1"/><w:numFmt w:val="{form}"/><w:lvlText w:val="{pattern}"/></w:lvl>'
        for n, (form, pattern) in enumerate(levels)
    )
    lists = "".join(
        f'<w:num w:numId="{n}"><w:abstractNumId w:val="7"/>{extra}</w:num>'
        for n, extra in ((1, ""), (2, more))
    )
    return (
        "word/numbering.xml",
        f'<w:numbering {WORD}><w:abstractNum w:abstractNumId="7">{kind}</w:abstractNum>{lists}</w:numbering>',
    )


def test_paragraphs_and_signs() -> None:
    body = (
        "<w:p><w:r><w:t>one</w:t><w:tab/><w:t>two</w:t><w:br/><w:t>three</w:t><w:noBreakHyphen/></w:r></w:p>"
        '<w:p><w:pPr><w:tabs><w:tab w:val="left" w:pos="720"/></w:tabs></w:pPr><w:r><w:t>four</w:t></w:r></w:p>'
        "<w:p/>"
    )
    assert text(body) == "one\ttwo\nthree\u2011\n\nfour\n\n"


def test_headings_by_name_outline_and_parent() -> None:
    styles = (
        "word/styles.xml",
        (
            f'<w:styles {WORD}><w:style w:styleId="T"><w:name w:val="Title"/></w:style>'
            '<w:style w:styleId="H2"><w:name w:val="heading 2"/></w:style>'
            '<w:style w:styleId="Mine"><w:name w:val="mine"/><w:basedOn w:val="H2"/></w:style>'
            '<w:style w:styleId="O"><w:name w:val="own"/><w:pPr><w:outlineLvl w:val="2"/></w:pPr></w:style>'
            '<w:style w:styleId="Round"><w:name w:val="round"/><w:basedOn w:val="Round"/></w:style></w:styles>'
        ),
    )
    body = "".join(paragraph(style, style) for style in ("T", "H2", "Mine", "O", "Round", "None"))
    body += '<w:p><w:pPr><w:outlineLvl w:val="0"/></w:pPr><w:r><w:t>direct</w:t></w:r></w:p>'
    body += '<w:p><w:pPr><w:outlineLvl w:val="9"/></w:pPr><w:r><w:t>body text</w:t></w:r></w:p>'
    assert text(body, styles) == (
        "# T\n\n## H2\n\n## Mine\n\n### O\n\nRound\n\nNone\n\n# direct\n\nbody text\n\n"
    )


def test_lists_keep_their_numbers() -> None:
    body = (
        item("Price") + item("in euro", level=1) + item("in cash", level=1) + item("no discount", level=2)
        + item("Delivery") + item("by mail", level=1) + paragraph("and so on") + item("Last")
    )  # fmt: skip
    levels = numbering(("decimal", "%1."), ("decimal", "%1.%2."), ("lowerLetter", "%3)"))
    assert text(body, levels) == (
        "1. Price\n  1.1. in euro\n  1.2. in cash\n    a) no discount\n2. Delivery\n  2.1. by mail\n"
        "\nand so on\n\n3. Last\n"
    )


def test_lists_that_begin_anew() -> None:
    body = item("a") + item("b") + item("c", 2) + item("d", 2)
    plain = numbering(("decimal", "%1."))
    assert text(body, plain) == "1. a\n2. b\n3. c\n4. d\n"
    override = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride>'
    assert text(body, numbering(("decimal", "%1."), more=override)) == "1. a\n2. b\n1. c\n2. d\n"


def test_bullets_unknown_lists_and_lists_of_styles() -> None:
    assert text(item("a") + item("b"), numbering(("bullet", "\uf0b7"))) == "- a\n- b\n"
    assert text(item("a", 9), numbering(("bullet", "x"))) == "a\n\n"
    assert text(item("deeper", level=1), numbering(("decimal", "%1."))) == "  2. deeper\n".replace("2", "1")
    styles = (
        "word/styles.xml",
        (
            f'<w:styles {WORD}><w:style w:styleId="L"><w:name w:val="list"/><w:pPr><w:numPr><w:ilvl w:val="0"/>'
            '<w:numId w:val="1"/></w:numPr></w:pPr></w:style></w:styles>'
        ),
    )
    assert text(paragraph("a", "L"), styles, numbering(("upperRoman", "(%1)"))) == "(I) a\n"


@pytest.mark.parametrize(
    ("count", "form", "written"),
    [
        (1, "decimal", "1"),
        (26, "lowerLetter", "z"),
        (27, "upperLetter", "AA"),
        (4, "lowerRoman", "iv"),
        (1994, "upperRoman", "MCMXCIV"),
        (4000, "upperRoman", "4000"),
        (0, "lowerLetter", "0"),
        (3, "russianLower", "3"),
    ],
)
def test_numbers(count: int, form: str, written: str) -> None:
    assert _written(count, form) == written


def test_roman_numbers_are_all_different() -> None:
    assert len({_roman(count) for count in range(1, 4_000)}) == 3_999


def test_tables() -> None:
    def row(*cells: str) -> str:
        return "<w:tr>" + "".join(f"<w:tc>{cell}</w:tc>" for cell in cells) + "</w:tr>"

    inner = f"<w:tbl>{row(paragraph('x'), paragraph('y'))}{row(paragraph(''), paragraph('z'))}</w:tbl>"
    wide = '<w:tcPr><w:gridSpan w:val="2"/></w:tcPr>' + paragraph("wide")
    table = (
        row(paragraph("a"), paragraph("b|c"))
        + row(wide)
        + row(paragraph("two") + paragraph("lines"), inner)
        + row(paragraph(""), "<w:p><w:r><w:t>br</w:t><w:br/><w:t>eak</w:t></w:r></w:p>")
    )
    body = item("before") + f"<w:tbl>{table}</w:tbl>" + paragraph("after")
    assert text(body, numbering(("decimal", "%1."))) == (
        "1. before\n\n| a | b\\|c |\n| --- | --- |\n| wide |  |\n| two lines | x; y z |\n|  | br eak |\n\nafter\n\n"
    )


def test_links_and_notes() -> None:
    body = (
        '<w:p><w:r><w:t>see </w:t></w:r><w:hyperlink r:id="r5" xmlns:r="urn:r"><w:r><w:t>the </w:t></w:r><w:r>'
        '<w:t>page</w:t></w:r></w:hyperlink><w:r><w:footnoteReference w:id="2"/></w:r><w:r>'
        '<w:endnoteReference w:id="1"/></w:r></w:p><w:p><w:hyperlink w:anchor="x"><w:r><w:t>inside</w:t></w:r>'
        "</w:hyperlink></w:p>"
    )
    links = (
        "word/_rels/document.xml.rels",
        (
            f'<Relationships xmlns="{files.PACKAGE}/relationships">'
            '<Relationship Id="r5" TargetMode="External" Target="https://example.org"/>'
            '<Relationship Id="r6" Target="styles.xml"/></Relationships>'
        ),
    )
    feet = (
        "word/footnotes.xml",
        (
            f'<w:footnotes {WORD}><w:footnote w:type="separator" w:id="0">{paragraph("---")}</w:footnote>'
            f'<w:footnote w:id="2">{paragraph("below")}</w:footnote></w:footnotes>'
        ),
    )
    ends = (
        "word/endnotes.xml",
        f'<w:endnotes {WORD}><w:endnote w:id="1">{paragraph("behind")}</w:endnote></w:endnotes>',
    )
    assert text(body, links, feet, ends) == (
        "see [the page](https://example.org)[^2][^e1]\n\ninside\n\n[^2]: below\n\n[^e1]: behind\n\n"
    )


def test_what_was_deleted_or_is_said_twice() -> None:
    body = (
        "<w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:ins><w:r><w:t>new</w:t></w:r></w:ins>"
        "<w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom><w:moveTo><w:r><w:t> moved</w:t></w:r></w:moveTo></w:p>"
        '<w:p><m:oMath xmlns:m="urn:math"><m:r><m:t>a+b</m:t></m:r></m:oMath></w:p>'
        '<w:p><w:r><w:t>outer</w:t><mc:AlternateContent xmlns:mc="urn:mc"><mc:Choice><w:txbxContent>'
        f"{paragraph('box')}</w:txbxContent></mc:Choice><mc:Fallback><w:txbxContent>{paragraph('box')}"
        "</w:txbxContent></mc:Fallback></mc:AlternateContent></w:r></w:p>"
    )
    assert text(body) == "new moved\n\na+b\n\nbox\n\nouter\n\n"


def test_every_prefix_will_do() -> None:
    data = files.zipped(
        [
            (
                "word/document.xml",
                (
                    '<x:document xmlns:x="http://purl.oclc.org/ooxml/wordprocessingml/main"><x:body><x:p><x:r>'
                    "<x:t>strict</x:t></x:r></x:p></x:body></x:document>"
                ),
            )
        ]
    )
    assert "".join(read_docx(data)) == "strict\n\n"


def test_odd_files() -> None:
    # Ends and beginnings that belong to nothing, as some programs write them.
    body = '<w:tc/><w:tr/><w:hyperlink/><w:t>lost in the body</w:t><w:gridSpan w:val="x"/>' + paragraph(
        "text"
    )
    assert text(body) == "text\n\n"
