"""What went wrong for others with pictures: counted by their size, told apart by their bytes, refused where they can't stand."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

import pytest

from priompt_py import (
    Node,
    PromptError,
    StructureError,
    assistant_message,
    image,
    isolate,
    render,
    scope,
    system_message,
    tool_definition,
    tool_message,
    user_message,
)
from priompt_py.testing.tokenizers import CharTokenizer

CHARS = CharTokenizer()


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(width: int, height: int, filler: int = 0) -> bytes:
    """A picture of this size, with ``filler`` bytes of comment."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = zlib.compress(b"\x00" * (1 + 3 * width) * height, 9)
    comment = chunk(b"tEXt", b"note\x00" + b"x" * filler) if filler else b""
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + comment + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    )


PICTURE = png(800, 600, filler=1_900_000)
DATA_URL = "data:image/png;base64," + base64.b64encode(PICTURE).decode()


def count(node: Node, **how: Any) -> int:
    return render(node, token_limit=10**6, tokenizer=CHARS, **how).token_count


# ------------------------------------------------------------------------------------------ counts


PICTURES: dict[str, dict[str, Any]] = {
    "bytes": {"data": PICTURE},
    "a data URL": {"url": DATA_URL},
    "a data URL in capitals": {"url": DATA_URL.replace("data:", "DATA:")},
    "a URL": {"url": "https://example.org/a.png", "dimensions": (800, 600)},
    "a URL of unknown size": {"url": "https://example.org/a.png"},
}


@pytest.mark.parametrize("picture", PICTURES.values(), ids=list(PICTURES))
def test_a_picture_at_low_detail_costs_85_whatever_its_bytes(picture: dict[str, Any]) -> None:
    assert count(user_message[image(detail="low", **picture)]) == 85
    call = assistant_message(tool_calls=[{"id": "c1", "name": "f", "arguments": ""}])
    answered = [call, tool_message(tool_call_id="c1")[image(detail="low", **picture)]]
    assert count(answered) - count([call, tool_message(tool_call_id="c1")[""]]) == 85


@pytest.mark.parametrize(
    ("size", "detail", "tokens"),
    [
        ((800, 600), "high", 85 + 4 * 170),  # 800 x 600 is 2 x 2 squares of 512
        ((800, 600), "auto", 85 + 4 * 170),
        ((512, 512), "high", 85 + 170),
        ((2048, 4096), "high", 85 + 6 * 170),  # OpenAI's own example: 1024 x 2048, then 768 x 1536
        ((1, 1), "high", 85 + 170),
        (None, "high", 85 + 8 * 170),  # unknown: 2048 x 768 is the most
    ],
)
def test_tiles_at_high_detail(size: tuple[int, int] | None, detail: Any, tokens: int) -> None:
    assert count(user_message[image(url="https://example.org/a", detail=detail, dimensions=size)]) == tokens


def test_the_family_comes_from_the_model() -> None:
    picture = user_message[image(url="https://example.org/a", detail="low")]
    assert count(picture, model="gpt-4o") == 85
    assert count(picture, model="gpt-4o-mini") == 2_833


def test_history_beside_a_picture_stays() -> None:
    turns = [scope(p=-i)[user_message["0123456789"]] for i in range(20)]
    tree: Node = [turns, user_message["look", image(data=PICTURE, detail="low")]]
    found = render(tree, token_limit=2_000, tokenizer=CHARS)
    assert len(found.messages or ()) == 21
    assert found.token_count == 20 * 10 + 4 + 85


def test_a_picture_does_not_part_the_text_around_it() -> None:
    picture = image(url="https://example.org/a", detail="low")
    words = [user_message["won", picture, "derful"], user_message["wonderful"]]
    one, other = (render(each, token_limit=999, tokenizer="o200k_base").token_count for each in words)
    assert one - other == 85


# ------------------------------------------------------------------------------------------ bytes


@pytest.mark.parametrize(
    "data",
    [
        b"RIFF\x24\x00\x00\x00WAVEfmt ",
        b"RIFF\x24\x00\x00\x00AVI LIST",
        b"",
        b"\xff\xd8",
        b"<svg xmlns=''/>",
        b"BM",
        PICTURE[:12],
    ],
    ids=["a sound", "a film", "nothing", "the start of a jpeg", "svg", "bmp", "the start of a png"],
)
def test_what_is_no_picture_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"image\(\)") as caught:
        image(data=data)
    assert isinstance(caught.value, PromptError)


def test_media_types_come_from_the_bytes() -> None:
    gif = b"GIF89a" + struct.pack("<HH", 3, 2) + b"\x00\x00\x00;"
    webp = (
        b"RIFF"
        + struct.pack("<I", 22)
        + b"WEBPVP8X"
        + struct.pack("<I", 10)
        + bytes(4)
        + bytes([2, 0, 0, 1, 0, 0])
    )
    made = {data[:4]: image(data=data) for data in (PICTURE, gif, webp)}
    assert {element.media_type for element in made.values()} == {"image/png", "image/gif", "image/webp"}
    assert [element.dimensions for element in made.values()] == [(800, 600), (3, 2), (3, 2)]


def test_a_data_url_is_sent_without_stray_blanks() -> None:
    request = render(user_message[image(url=DATA_URL)], token_limit=10**6, tokenizer=CHARS).to_openai()
    (part,) = request["messages"][0]["content"]
    assert part["image_url"]["url"] == DATA_URL


# ------------------------------------------------------------------------------------------ places

PICTURE_URL = image(url="https://example.org/a.png", detail="low")

WRONG: dict[str, tuple[Node, str]] = {
    "a system message": (system_message["x", PICTURE_URL], "root > 0:system > 1:image"),
    "an assistant message": (
        assistant_message[scope(p=1)[PICTURE_URL]],
        "root > 0:assistant > 0:scope > 0:image",
    ),
    "beside messages": ([user_message["x"], PICTURE_URL], "root > 1:image"),
    "a plain prompt": (["x", PICTURE_URL], "root > 1:image"),
    "an isolate beside messages": (
        [user_message["x"], isolate(token_limit=99)[PICTURE_URL]],
        "root > 1:isolate > 0:image",
    ),
}


@pytest.mark.parametrize("limit", [0, 10**6])
@pytest.mark.parametrize(("tree", "path"), WRONG.values(), ids=list(WRONG))
def test_pictures_are_refused_where_they_cannot_stand_whatever_the_limit(
    tree: Node, path: str, limit: int
) -> None:
    with pytest.raises(StructureError) as caught:
        render(tree, token_limit=limit, tokenizer=CHARS)
    assert path in str(caught.value)


def test_tools_beside_a_picture() -> None:
    tree: Node = [
        tool_definition(name="zoom", description="Zoom in.", parameters={}),
        user_message["x", PICTURE_URL],
    ]
    found = render(tree, token_limit=999, tokenizer=CHARS)
    assert [tool.name for tool in found.tools] == ["zoom"]
    request = found.to_openai()
    assert len(request["tools"]) == 1
    assert [part["type"] for part in request["messages"][0]["content"]] == ["text", "image_url"]
