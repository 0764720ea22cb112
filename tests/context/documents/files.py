"""Files made by hand, honest ones and others, so that tests need no library that writes them."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterable

WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


# ------------------------------------------------------------------------------------------ PDF


def pdf(*objects: bytes) -> bytes:
    """A PDF of these objects, numbered from 1; the first is its catalog."""
    out = b"%PDF-1.7\n"
    places: list[int] = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, table)
    return out


def stream(entries: bytes, data: bytes) -> bytes:
    return b"<< %s /Length %d >>\nstream\n%s\nendstream" % (entries, len(data), data)


FONT = b"<< /Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>"


def page(resources: bytes = FONT, contents: bytes = b"4 0 R") -> bytes:
    return b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents %s /Resources %s >>" % (
        contents,
        resources,
    )


CATALOG = b"<< /Type /Catalog /Pages 2 0 R >>"


def one_page(content: bytes, *more: bytes, resources: bytes = FONT) -> bytes:
    """A PDF of one page with this content stream; ``more`` are objects from 5 on."""
    return pdf(CATALOG, b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>", page(resources), content, *more)


def pages(*texts: str) -> bytes:
    """A PDF with a line of text on each page."""
    kids = b" ".join(b"%d 0 R" % (3 + 2 * n) for n in range(len(texts)))
    objects = [CATALOG, b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, len(texts))]
    for n, text in enumerate(texts):
        objects.append(page(contents=b"%d 0 R" % (4 + 2 * n)))
        objects.append(stream(b"", b"BT /F 12 Tf 50 700 Td (%s) Tj ET" % text.encode("ascii")))
    return pdf(*objects)


def inflating(megabytes: int, byte: bytes = b"\0") -> bytes:
    """Deflated data that inflates to so many MB."""
    press = zlib.compressobj(9)
    block = byte * 1_000_000
    return b"".join(press.compress(block) for _ in range(megabytes)) + press.flush()


# ------------------------------------------------------------------------------------------ zip


def zipped(members: Iterable[tuple[str, str | bytes]]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return out.getvalue()


def zip_of_zeros(name: str, megabytes: int) -> bytes:
    """A zip with one member of zeros, written in pieces."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        with archive.open(name, "w", force_zip64=True) as member:
            for _ in range(megabytes // 10):
                member.write(bytes(10_000_000))
    return out.getvalue()


def _package(target: str, content_type: str, members: Iterable[tuple[str, str | bytes]]) -> bytes:
    return zipped(
        [
            (
                "[Content_Types].xml",
                (
                    f'<Types xmlns="{PACKAGE}/content-types">'
                    f'<Override PartName="/{target}" ContentType="{content_type}"/></Types>'
                ),
            ),
            (
                "_rels/.rels",
                (
                    f'<Relationships xmlns="{PACKAGE}/relationships">'
                    f'<Relationship Id="r1" Type="{OFFICE}/officeDocument" Target="{target}"/></Relationships>'
                ),
            ),
            *members,
        ]
    )


def docx(body: str, *members: tuple[str, str | bytes], prolog: str = "") -> bytes:
    """A DOCX with this body (XML of WordprocessingML)."""
    content = f"{prolog}<w:document {WORD}><w:body>{body}</w:body></w:document>"
    return _package(
        "word/document.xml",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml",
        [("word/document.xml", content), *members],
    )


def paragraph(text: str, style: str = "") -> str:
    styled = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{styled}<w:r><w:t>{text}</w:t></w:r></w:p>"


STYLES = (
    "word/styles.xml",
    f'<w:styles {WORD}><w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/></w:style></w:styles>',
)


def xlsx(*sheets: tuple[str, str], shared: str = "") -> bytes:
    """An XLSX of sheets, each a name (with ``state="hidden"`` behind it where it is) and its XML."""
    names = "".join(
        f'<sheet name="{name.removesuffix(" -")}" sheetId="{n}" r:id="r{n}"'
        + (' state="hidden"' if name.endswith(" -") else "")
        + "/>"
        for n, (name, _) in enumerate(sheets, 1)
    )
    relations = "".join(
        f'<Relationship Id="r{n}" Type="{OFFICE}/worksheet" Target="worksheets/sheet{n}.xml"/>'
        for n in range(1, len(sheets) + 1)
    )
    strings = f'<Relationship Id="s" Type="{OFFICE}/sharedStrings" Target="sharedStrings.xml"/>'
    return _package(
        "xl/workbook.xml",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml",
        [
            (
                "xl/_rels/workbook.xml.rels",
                f'<Relationships xmlns="{PACKAGE}/relationships">{relations}{strings}</Relationships>',
            ),
            (
                "xl/workbook.xml",
                f'<workbook xmlns="{SHEET}" xmlns:r="{OFFICE}"><sheets>{names}</sheets></workbook>',
            ),
            ("xl/sharedStrings.xml", f'<sst xmlns="{SHEET}">{shared}</sst>'),
            *(
                (f"xl/worksheets/sheet{n}.xml", f'<worksheet xmlns="{SHEET}">{xml}</worksheet>')
                for n, (_, xml) in enumerate(sheets, 1)
            ),
        ],
    )


def rows(*cells: str) -> str:
    """A sheet's data: rows of cells such as ``A1=5``, ``B1='text'`` and ``C1=true``."""
    found: dict[str, str] = {}
    for cell in cells:
        place, _, value = cell.partition("=")
        number = place.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        if value.startswith("'"):
            xml = f'<c r="{place}" t="inlineStr"><is><t>{value[1:-1]}</t></is></c>'
        elif value in ("true", "false"):
            xml = f'<c r="{place}" t="b"><v>{int(value == "true")}</v></c>'
        else:
            xml = f'<c r="{place}"><v>{value}</v></c>'
        found[number] = found.get(number, "") + xml
    body = "".join(f'<row r="{number}">{xml}</row>' for number, xml in found.items())
    return f"<sheetData>{body}</sheetData>"


ENTITIES = (
    '<!DOCTYPE a [<!ENTITY a "lol">'
    + "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9))
    + "]>"
)
