"""`priompt count`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Priompt


@pytest.mark.parametrize(
    ("data", "options", "count"),
    [
        (b"", "", 0),
        (b"Hello world", "", 2),
        (b"\xef\xbb\xbfHello world", "", 2),
        (b"Hello world\r\n", "", 3),
        (b"<|endoftext|>", "", 7),
        ("你好 😀 é".encode(), "", 3),
        ("你好 😀 é".encode(), "--tokenizer cl100k_base", 4),
        ("你好 😀 é".encode(), "--model gpt-4", 4),
        ("你好 😀 é".encode(), "--model gpt-4 --tokenizer o200k_base", 3),
    ],
)
def test_count(folder: Path, priompt: Priompt, data: bytes, options: str, count: int) -> None:
    (folder / "a.txt").write_bytes(data)
    assert priompt("count", "a.txt", *options.split()) == (0, f"{count}\n", "")
    assert priompt("count", *options.split(), "-", stdin=data) == (0, f"{count}\n", "")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\xff\xfea\0", "<stdin>: looks like UTF-16; save it as UTF-8\n"),
        (b"\xfe\xff\0a", "<stdin>: looks like UTF-16; save it as UTF-8\n"),
        (b"\xff\xfe\0\0a\0\0\0", "<stdin>: looks like UTF-32; save it as UTF-8\n"),
        ("Hello".encode("utf-16-le"), "<stdin>: looks like UTF-16; save it as UTF-8\n"),
        ("Hello".encode("utf-16-be"), "<stdin>: looks like UTF-16; save it as UTF-8\n"),
        (b"ab\n\xc3", "<stdin>: not UTF-8: byte 0xC3 at offset 3 (line 2); save it as UTF-8\n"),
        (b"\xed\xa0\x80", "<stdin>: not UTF-8: byte 0xED at offset 0 (line 1); save it as UTF-8\n"),
    ],
)
def test_bytes_that_are_no_utf8(priompt: Priompt, data: bytes, message: str) -> None:
    assert priompt("count", "-", stdin=data) == (2, "", message)


def test_zeros_alone_are_no_utf16(priompt: Priompt) -> None:
    assert priompt("count", "-", stdin=b"ab\0cd\0").code == 0


def test_rendered_text_counts_as_it_says(folder: Path, priompt: Priompt) -> None:
    text = priompt("render", "-", "--limit", "99", stdin=b'["one\\n", " two  \\n\\n"]').out
    assert text == "one\n two  \n\n"
    counted = priompt(
        "render", "-", "--limit", "99", "--format", "tokens", stdin=b'["one\\n", " two  \\n\\n"]'
    ).out
    assert priompt("count", "-", stdin=text.encode()).out == f"{len(counted.split(','))}\n"
