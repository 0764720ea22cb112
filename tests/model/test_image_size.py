from __future__ import annotations

import struct
import time
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from priompt_py.model.image_size import ImageDataError, ImageInfo, sniff_image


def png(width: int, height: int) -> bytes:
    head = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + head + struct.pack(">I", zlib.crc32(head))


def gif(width: int, height: int, version: bytes = b"89a") -> bytes:
    return b"GIF" + version + struct.pack("<HH", width, height) + b"\x00\x00\x00;"


def segment(marker: int, body: bytes) -> bytes:
    return bytes([0xFF, marker]) + struct.pack(">H", len(body) + 2) + body


def frame(width: int, height: int, marker: int = 0xC0) -> bytes:
    return segment(marker, struct.pack(">BHHB", 8, height, width, 3) + bytes(9))


def jpeg(*segments: bytes) -> bytes:
    return b"\xff\xd8" + b"".join(segments)


def webp(kind: bytes, body: bytes) -> bytes:
    chunk = kind + struct.pack("<I", len(body)) + body
    return b"RIFF" + struct.pack("<I", len(chunk) + 4) + b"WEBP" + chunk


def vp8(width: int, height: int) -> bytes:
    return webp(b"VP8 ", b"\x30\x01\x00\x9d\x01\x2a" + struct.pack("<HH", width, height) + bytes(8))


def vp8l(width: int, height: int) -> bytes:
    return webp(b"VP8L", b"\x2f" + struct.pack("<I", (width - 1) | (height - 1) << 14) + bytes(8))


def vp8x(width: int, height: int) -> bytes:
    return webp(b"VP8X", bytes(4) + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little"))


APP0, EXIF = segment(0xE0, b"JFIF\0" + bytes(9)), segment(0xE1, b"Exif\0\0" + frame(1, 1) + bytes(60_000))


@pytest.mark.parametrize(
    ("data", "info"),
    [
        (png(800, 600), ImageInfo("image/png", 800, 600)),
        (png(2**31 - 1, 1), ImageInfo("image/png", 2**31 - 1, 1)),
        (gif(3, 65_535), ImageInfo("image/gif", 3, 65_535)),
        (gif(3, 5, b"87a"), ImageInfo("image/gif", 3, 5)),
        (jpeg(APP0, frame(640, 480)), ImageInfo("image/jpeg", 640, 480)),
        (
            jpeg(APP0, EXIF, segment(0xDB, bytes(65)), frame(640, 480, 0xC2)),
            ImageInfo("image/jpeg", 640, 480),
        ),
        (jpeg(segment(0xC4, bytes(20)), frame(7, 9, 0xCF)), ImageInfo("image/jpeg", 7, 9)),  # DHT is no frame
        (jpeg(segment(0xC8, bytes(20)), segment(0xCC, bytes(3)), frame(7, 9)), ImageInfo("image/jpeg", 7, 9)),
        (jpeg(b"\xff\xff\xff", frame(7, 9)), ImageInfo("image/jpeg", 7, 9)),  # fill bytes
        (jpeg(b"\xff\x01\xff\xd0", frame(7, 9)), ImageInfo("image/jpeg", 7, 9)),  # markers without a length
        (vp8(1_000, 700), ImageInfo("image/webp", 1_000, 700)),
        (vp8(0x4000 | 100, 0x8000 | 50), ImageInfo("image/webp", 100, 50)),  # two bits say how to scale
        (vp8l(16_384, 1), ImageInfo("image/webp", 16_384, 1)),
        (vp8x(100_000, 2), ImageInfo("image/webp", 100_000, 2)),
    ],
)
def test_sizes(data: bytes, info: ImageInfo) -> None:
    assert sniff_image(data) == info
    assert sniff_image(bytearray(data)) == sniff_image(memoryview(data)) == info


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (png(0, 5), "image/png"),
        (png(5, 5)[:22], "image/png"),
        (b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 4) + b"CgBI" + bytes(20), "image/png"),
        (b"GIF89a\x05", "image/gif"),
        (b"GIF89a", "image/gif"),
        (gif(0, 3), "image/gif"),
        (b"\xff\xd8\xff", "image/jpeg"),
        (jpeg(APP0), "image/jpeg"),
        (jpeg(APP0, frame(640, 480)[:8]), "image/jpeg"),
        (jpeg(frame(640, 0)), "image/jpeg"),  # told after the first scan
        (jpeg(segment(0xDA, bytes(9)), frame(640, 480)), "image/jpeg"),
        (jpeg(b"\xff\xd9", frame(640, 480)), "image/jpeg"),
        (jpeg(b"\xff\x00", frame(640, 480)), "image/jpeg"),
        (jpeg(APP0, b"??", frame(640, 480)), "image/jpeg"),
        (jpeg(b"\xff\xe0\x00\x00" + bytes(9)), "image/jpeg"),  # a length of 0
        (b"RIFF....WEBPVP8 ", "image/webp"),
        (b"RIFF....WEBP", "image/webp"),
        (vp8(5, 5)[:28], "image/webp"),
        (vp8(0, 5), "image/webp"),
        (webp(b"VP8 ", bytes(20)), "image/webp"),
        (webp(b"VP8L", bytes(20)), "image/webp"),
        (vp8x(5, 5)[:29], "image/webp"),
        (webp(b"ALPH", bytes(20)), "image/webp"),
    ],
)
def test_a_plain_type_without_a_size(data: bytes, media_type: str) -> None:
    assert sniff_image(data) == ImageInfo(media_type)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not a picture: no bytes at all"),
        (
            b"RIFF....WAVEfmt ",
            "not a picture: a RIFF file of type b'WAVE', not b'WEBP' (first bytes 52 49 46 46",
        ),
        (b"RIFF", "not a picture: a RIFF file of type b'', not b'WEBP' (first bytes 52 49 46 46)"),
        (b"\xff\xd8", "not a picture: a JPEG cut off after 2 bytes (first bytes ff d8)"),
        (
            b"<svg width=9>",
            "not a picture that models take: SVG or other markup, which is text (first bytes b'<svg width=9'",
        ),
        (b"\xef\xbb\xbf\n <?XML?>", "not a picture that models take: SVG or other markup"),
        (b"BM6\x00", "not a picture of a known type (png, jpeg, gif, webp): first bytes 42 4d 36 00"),
        (b"\x89PNG\r\n\x1a", "not a picture of a known type (png, jpeg, gif, webp): first bytes 89 50"),
        (b"GIF88a", "not a picture of a known type"),
        (b"hello, this is text", "not a picture of a known type"),
    ],
)
def test_refusals_show_the_first_bytes(data: bytes, message: str) -> None:
    with pytest.raises(ImageDataError) as caught:
        sniff_image(data)
    assert str(caught.value).startswith(message)
    assert isinstance(caught.value, ValueError)


STARTS = [
    png(9, 9),
    gif(9, 9),
    jpeg(APP0, frame(9, 9)),
    vp8(9, 9),
    vp8l(9, 9),
    vp8x(9, 9),
    b"<svg",
    b"RIFF....WAVE",
]


@given(data=st.binary(max_size=60), start=st.sampled_from(STARTS), cut=st.integers(0, 60))
def test_hostile_bytes_raise_nothing_else(data: bytes, start: bytes, cut: int) -> None:
    for hostile in (data, start[:cut] + data, start + data):
        try:
            info = sniff_image(hostile)
        except ImageDataError:
            continue
        assert (info.width is None) == (info.height is None)
        assert info.width is None or info.width > 0


@pytest.mark.parametrize("filler", [b"\xff", b"\xff\xd0", b"\xff\xe0\x00\x02", b"\x00"])
def test_hostile_length_takes_no_time(filler: bytes) -> None:
    data = b"\xff\xd8\xff\xe0\x00\x02" + filler * (8_000_000 // len(filler))
    start = time.thread_time()
    assert sniff_image(data) == ImageInfo("image/jpeg")
    assert time.thread_time() - start < 0.5
