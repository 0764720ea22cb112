"""Media type and size of a picture, read from its first bytes.

Only headers are read: nothing is decoded, and no byte is looked at twice. Data may be cut off or hostile; the size is
then ``None`` where the type is plain, and all that is raised is :class:`ImageDataError`.

Sources: PNG specification (IHDR); GIF89a specification (logical screen descriptor); ITU-T T.81 (JPEG markers); RFC 9649
(WebP container, VP8L) and RFC 6386 (VP8 frame header).
"""

from __future__ import annotations

import re
from typing import Literal

import attrs

__all__ = ["ImageDataError", "ImageInfo", "MediaType", "sniff_image"]

MediaType = Literal["image/png", "image/jpeg", "image/gif", "image/webp"]


class ImageDataError(ValueError):
    """Bytes that are no picture of a type that models take; the message shows the first of them."""


@attrs.frozen
class ImageInfo:
    """``width`` and ``height`` in pixels, ``None`` both where the bytes don't tell."""

    media_type: MediaType
    width: int | None = None
    height: int | None = None


def sniff_image(data: bytes | bytearray | memoryview) -> ImageInfo:
    """What the picture ``data`` is: PNG, JPEG, GIF or WebP, by its signature, with its size if it can be read.

    Raises :class:`ImageDataError` for anything else: empty data, RIFF files that are no WebP, SVG (which is text),
    other pictures.
    """
    if not isinstance(data, bytes):
        data = bytes(memoryview(data))
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return ImageInfo("image/png", *_png(data))
    if data.startswith(b"\xff\xd8\xff"):
        return ImageInfo("image/jpeg", *_jpeg(data))
    if data.startswith((b"GIF87a", b"GIF89a")):
        return ImageInfo("image/gif", *_sides(data[6:8], data[8:10], "little"))
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return ImageInfo("image/webp", *_webp(data))
    raise ImageDataError(_refusal(data))


Size = tuple[int, int] | tuple[None, None]

_UNKNOWN: Size = (None, None)


def _sides(width: bytes, height: bytes, order: Literal["big", "little"]) -> Size:
    """Both sides from their bytes, unknown if bytes are missing or a side is 0."""
    if not width or len(width) != len(height):
        return _UNKNOWN
    sides = int.from_bytes(width, order), int.from_bytes(height, order)
    return sides if all(sides) else _UNKNOWN


def _png(data: bytes) -> Size:
    if data[12:16] != b"IHDR":  # the first chunk, by the specification (Apple's CgBI variant is none)
        return _UNKNOWN
    return _sides(data[16:20], data[20:24], "big")


#: Start-of-frame markers: all of C0–CF but DHT (C4), JPG (C8) and DAC (CC).
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}

#: Markers without a length: TEM, RST0–7, SOI.
_BARE = frozenset({0x01, *range(0xD0, 0xD9)})

_FILL = re.compile(rb"\xff*")

#: Segments that are looked at. Cameras write a few dozen before the frame; the bound is for hostile data.
_MOST_SEGMENTS = 10_000


def _jpeg(data: bytes) -> Size:
    place, end = 2, len(data)
    for _ in range(_MOST_SEGMENTS):
        fill = _FILL.match(data, place)
        # FF, once or more often, and the marker's code: anything else is not where a marker should be.
        if fill is None or fill.end() == place or fill.end() >= end:
            break
        marker, place = data[fill.end()], fill.end() + 1
        if marker in _FRAMES:
            # length (2), sample precision (1), height (2), width (2); a height of 0 is told later, by DNL
            return _sides(data[place + 5 : place + 7], data[place + 3 : place + 5], "big")
        if marker in (0x00, 0xD9, 0xDA):  # no marker, end of image, start of scan: no frame before the data
            break
        if marker not in _BARE:
            place += max(2, int.from_bytes(data[place : place + 2], "big"))
    return _UNKNOWN


def _webp(data: bytes) -> Size:
    kind = data[12:16]
    if kind == b"VP8X" and len(data) >= 30:  # canvas size, 24 bits each, less one
        return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    if kind == b"VP8L" and len(data) >= 25 and data[20] == 0x2F:  # 14 bits each, less one
        bits = int.from_bytes(data[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if kind == b"VP8 " and len(data) >= 30 and data[23:26] == b"\x9d\x01\x2a":  # 14 bits each, scaling above
        width = int.from_bytes(data[26:28], "little") & 0x3FFF
        height = int.from_bytes(data[28:30], "little") & 0x3FFF
        return (width, height) if width and height else _UNKNOWN
    return _UNKNOWN


def _refusal(data: bytes) -> str:
    if not data:
        return "not a picture: no bytes at all"
    start = data[:12].hex(" ")
    if data.startswith(b"RIFF"):
        return f"not a picture: a RIFF file of type {data[8:12]!r}, not b'WEBP' (first bytes {start})"
    text = data[:256].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if text.startswith((b"<svg", b"<?xml", b"<!doctype")):
        return (
            f"not a picture that models take: SVG or other markup, which is text (first bytes {data[:12]!r})"
        )
    if data.startswith(b"\xff\xd8"):
        return f"not a picture: a JPEG cut off after {len(data)} bytes (first bytes {start})"
    return f"not a picture of a known type (png, jpeg, gif, webp): first bytes {start}"
