"""Bytes as text: no character is lost without a word."""

from __future__ import annotations

import builtins
import codecs
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from priompt_py.context import Document, DocumentLimits, DocumentParser
from priompt_py.context.documents.encodings import Decoded, declared_encoding, decode, guess
from priompt_py.context.documents.refusals import Refused
from priompt_py.errors import DocumentError

RUSSIAN = "Договор поставки заключён между сторонами на срок до тридцати дней.\n" * 5
GUESSED = {
    "cp1251": RUSSIAN,
    "koi8_r": RUSSIAN,
    "gb18030": "甲方应当在收到货物之日起三十日内付款。\n" * 10,
    "shift_jis": "この契約は、署名の日から三十日以内に終了する。\n" * 10,
}


@pytest.mark.parametrize("encoding", GUESSED)
def test_guessed(encoding: str) -> None:
    text = GUESSED[encoding]
    assert decode(text.encode(encoding)) is None
    document = DocumentParser().read(text.encode(encoding), "a.txt")
    assert (document.text, document.guessed, document.library) == (text, True, "charset-normalizer")
    assert document.encoding is not None
    assert text.encode(document.encoding) == text.encode(encoding)


MARKED = {
    "utf-8": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
}


@pytest.mark.parametrize("encoding", MARKED)
def test_byte_order_marks(encoding: str) -> None:
    text = "é 你好 😀\r\nend\n"
    assert decode(MARKED[encoding] + text.encode(encoding)) == Decoded(text, encoding)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", ["one line\nand another\n", "привет, мир\n", "你好 世界\n"])
def test_without_a_mark(encoding: str, text: str) -> None:
    assert decode(text.encode(encoding)) == Decoded(text, encoding)


@given(st.text())
def test_utf_8_is_never_guessed(text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    try:
        found = decode(data)
    except Refused:
        assert b"\x00" in data
        return
    if found is not None and found.encoding == "utf-8":
        assert found.text.encode("utf-8") == data.removeprefix(codecs.BOM_UTF8)


@given(st.binary(max_size=200))
def test_whatever_is_certain_gives_the_bytes_back(data: bytes) -> None:
    try:
        found = decode(data)
    except Refused:
        return
    if found is not None and not any(data.startswith(mark) for mark in MARKED.values()):
        assert found.text.encode(found.encoding) == data


DECLARED = {
    b'<?xml version="1.0" encoding="windows-1251"?>': "cp1251",
    b'<html><head><meta charset="koi8-r">': "koi8-r",
    b"<meta http-equiv='Content-Type' content='text/html; charset=gb2312'>": "gb2312",
    b"#!/usr/bin/python\n# -*- coding: cp1251 -*-": "cp1251",
    b"# vim: set fileencoding=latin-1 :": "cp1252",
    b"no word of it": None,
    b"# coding: rot13": None,
    b"# coding: unicode_escape": None,
    b"# coding: raw_unicode_escape": None,
    b'<meta charset="utf-7">': None,
    b"# coding: idna": None,
    b"# coding: no-such-thing": None,
}


@pytest.mark.parametrize("head", DECLARED)
def test_declared(head: bytes) -> None:
    assert declared_encoding(head) == DECLARED[head]


def test_a_declaration_is_believed_where_it_can_be() -> None:
    head = b'<?xml version="1.0" encoding="cp1251"?><a>'
    assert decode(head + "ё".encode("cp1251")) == Decoded(head.decode() + "ё", "cp1251")
    wrong = b'<?xml version="1.0" encoding="ascii"?><a>' + "你".encode()  # browsers read that as cp1252
    assert decode(wrong) is not None
    utf8 = b"# coding: gb2312\n" + "ё你😀".encode()
    assert decode(utf8) == Decoded("# coding: gb2312\nё你😀", "utf-8")


def test_an_encoding_that_the_caller_knows() -> None:
    data = "Счёт".encode("cp1251")
    assert DocumentParser(encoding="cp1251").read(data, "a.txt") == Document("Счёт", "text", None, "cp1251")
    with pytest.raises(DocumentError) as caught:
        DocumentParser(encoding="utf-8").parse(data, "a.txt")
    assert str(caught.value) == (
        "a.txt: byte 0 is not in the encoding utf-8; save it as UTF-8, or tell its encoding: "
        "DocumentParser(encoding='cp1251')"
    )
    with pytest.raises(DocumentError) as caught:
        DocumentParser(encoding="no-such").parse(data, "a.txt")
    assert str(caught.value) == "a.txt: Python knows no encoding of text 'no-such'"


REFUSED: dict[str, tuple[bytes, str]] = {
    "zeros": (bytes(1000), "it is binary data, no text"),
    "controls": (b"\x01\x02\xff" * 100, "it is binary data, no text"),
    "a broken mark": (
        codecs.BOM_UTF16_LE + b"a",
        (
            "byte 0 is not in the encoding utf-16-le of its byte order mark; save it as UTF-8, or tell its encoding: "
            "DocumentParser(encoding='cp1251')"
        ),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    data, message = REFUSED[name]
    with pytest.raises(DocumentError) as caught:
        DocumentParser().parse(data, "a.bin")
    assert caught.value.detail == message


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_the_limit_is_of_text_not_of_bytes(encoding: str) -> None:
    parser = DocumentParser(limits=DocumentLimits(text_bytes=1_000))
    assert len(parser.parse(("word " * 200).encode(encoding), "a.txt")) == 1_000
    with pytest.raises(DocumentError, match="more than 1,000 bytes of text"):
        parser.parse(("word " * 200 + "x").encode(encoding), "a.txt")


def test_guessing() -> None:
    found = guess(RUSSIAN.encode("cp1251"))
    assert (found.text, found.guessed) == (RUSSIAN, True)
    with pytest.raises(Refused, match="it is binary data, no text"):
        guess(b"\x01\x02\xff" * 100)


SHORT = {
    "koi8_r": "Привет мир, это текст договора об оказании услуг",
    "cp866": "Привет мир, это текст договора об оказании услуг",
    "cp1250": "é",
    "euc_jp": "これは日本語のテキストです。文字コード",
    "gb18030": "这是一个中文文件的内容，用来测试编码",
}


@pytest.mark.parametrize("encoding", SHORT)
def test_short_texts_are_in_no_odd_encoding(encoding: str) -> None:
    assert guess(SHORT[encoding].encode(encoding)) == Decoded(SHORT[encoding], encoding, guessed=True)


def test_nothing_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    import charset_normalizer

    class Nothing:
        def best(self) -> None:
            return None

    def nothing(_: bytes, **_options: object) -> Nothing:
        return Nothing()

    monkeypatch.setattr(charset_normalizer, "from_bytes", nothing)
    with pytest.raises(Refused, match="no other encoding fits"):
        guess("ё".encode("cp1251") * 50)


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def missing(name: str, *rest: Any, **more: Any) -> Any:
        if name == "charset_normalizer":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(Refused) as caught:
        guess(RUSSIAN.encode("cp1251"))
    assert caught.value.message == (
        "it is neither UTF-8 nor UTF-16, and finding out its encoding needs pip install 'priompt-py[documents]'; or "
        "save it as UTF-8, or tell its encoding: DocumentParser(encoding='cp1251')"
    )
