"""Images and opaque parts of messages."""

from __future__ import annotations

import base64
import struct
from typing import Any

import attrs
import pytest

from priompt_py.author.messages import (
    image,
    part,
)
from priompt_py.errors import ArgumentValueError
from tests.ids import stable_id


def png(width: int, height: int, size: int = 0) -> bytes:
    """The beginning of a PNG, which is all that is looked at, and ``size`` more bytes."""
    header = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sIIBBBBB", 13, b"IHDR", width, height, 8, 2, 0, 0, 0)
    return header + bytes(4) + b"\x55" * size


# ------------------------------------------------------------------------------------------ images


def test_images_of_bytes() -> None:
    picture = image(data=png(800, 600), detail="low", p=3)
    assert (picture.media_type, picture.dimensions, picture.detail, picture.p) == (
        "image/png",
        (800, 600),
        "low",
        3,
    )
    assert picture.data == png(800, 600)
    assert picture.url is None
    for data in (bytearray(png(3, 4)), memoryview(png(3, 4))):
        made = image(data=data)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        assert (made.data, made.dimensions) == (png(3, 4), (3, 4))
    changed = bytearray(png(3, 4))
    made = image(data=changed)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    changed[:4] = b"0000"
    assert made.data == png(3, 4)


def test_given_dimensions_win() -> None:
    assert image(data=png(800, 600), dimensions=(8, 6)).dimensions == (8, 6)
    assert image(data=png(800, 600), dimensions=[8, 6]).dimensions == (8, 6)
    assert image(data=b"RIFF\x00\x00\x00\x00WEBP", dimensions=(8, 6)).media_type == "image/webp"


def test_images_of_urls() -> None:
    picture = image(url="https://example.org/a.png")
    assert (picture.url, picture.data, picture.dimensions, picture.media_type, picture.detail) == (
        "https://example.org/a.png",
        None,
        None,
        None,
        "auto",
    )


@pytest.mark.parametrize(
    "head", ["data:image/png;base64,", "DATA:image/png;BASE64,", "data:image/jpeg;charset=x;base64,"]
)
def test_data_urls_become_bytes(head: str) -> None:
    """So that they are checked and counted as bytes, and never as text."""
    body = base64.b64encode(png(3, 4, 50)).decode()
    wrapped = "\n ".join(body[i : i + 20] for i in range(0, len(body), 20))
    for text in (body, wrapped, body.replace("=", "%3D").replace("+", "%2B")):
        picture = image(url=head + text)
        assert (picture.url, picture.data, picture.media_type) == (None, png(3, 4, 50), "image/png")
        assert picture.dimensions == (3, 4)


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"", "no bytes|empty"),
        (b"RIFF\x24\x00\x00\x00WAVEfmt ", "RIFF"),
        (b"\xff\xd8", "first bytes ff d8"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "<svg"),
        (b"BM123456", "first bytes 42 4d 31"),
    ],
    ids=stable_id,
)
def test_what_is_no_picture_is_refused_with_its_first_bytes(data: bytes, shown: str) -> None:
    with pytest.raises(ArgumentValueError, match=shown) as caught:
        image(data=data)
    assert str(caught.value).startswith("image(): ")
    with pytest.raises(ArgumentValueError, match=shown):
        image(url="data:image/png;base64," + base64.b64encode(data).decode())


def test_the_kinds_of_pictures() -> None:
    gif = b"GIF89a" + struct.pack("<HH", 3, 4) + b"\x00\x00\x00"
    assert (image(data=gif).media_type, image(data=gif).dimensions) == ("image/gif", (3, 4))
    with pytest.raises(
        ArgumentValueError, match=r"the size of this image/webp can't be read .* give dimensions="
    ):
        image(data=b"RIFF\x00\x00\x00\x00WEBPVP8 ")


# ------------------------------------------------------------------------------------------ parts


def test_parts_are_copies() -> None:
    data: dict[str, Any] = {"type": "thinking", "signature": ["x", {"y": (1, 2)}]}
    made = part(provider="anthropic", data=data)
    assert made.data == {"type": "thinking", "signature": ["x", {"y": [1, 2]}]}
    data["signature"][1]["y"] = 0
    data["type"] = ""
    assert made.data == {"type": "thinking", "signature": ["x", {"y": [1, 2]}]}
    assert made.tokens is None


def test_parts_that_are_no_json_need_tokens() -> None:
    data = {"inline_data": {"data": b"x", "sizes": [1]}}
    made = part(provider="gemini", data=data, tokens=5)
    assert made.data == data
    assert made.data["inline_data"] is not data["inline_data"]
    assert attrs.evolve(made, tokens=6).data == data
