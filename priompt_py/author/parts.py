"""What stands in messages beside text: images and opaque parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from priompt_py.author.calls import explained
from priompt_py.author.checks import (
    choice,
    got,
    one_of_priorities,
    text,
    text_or_none,
    whole_number,
    wrong_type,
    wrong_value,
)
from priompt_py.author.children import is_list, is_mapping
from priompt_py.author.json_values import json_argument
from priompt_py.errors import ArgumentValueError
from priompt_py.model.elements import Image, Number, Part

__all__ = ["image", "part"]


@explained("image", takes_children=False)
def image(
    *,
    data: bytes | None = None,
    url: str | None = None,
    detail: Literal["low", "high", "auto"] = "auto",
    dimensions: Sequence[int] | None = None,
    p: Number | None = None,
    prel: Number | None = None,
    key: str | None = None,
) -> Image:
    """A picture in a user message, from bytes (png, jpeg, gif or webp) or a URL.

    ``dimensions`` are (width, height) in pixels; they are read from the bytes when not given.
    Raises ArgumentValueError for bytes that are no such picture, or of unreadable size.
    """
    one_of_priorities("image", p, prel)
    if (data is None) == (url is None):
        raise ArgumentValueError(
            "image() needs data or url, " + ("not both" if data is not None else "got neither")
        )
    size = _dimensions(dimensions)
    media_type: str | None = None
    if data is not None:
        data = _bytes(data)
        media_type, size = _read_image("data", data, size)
    else:
        url, data, media_type, size = _url(text("image", "url", url), size)
    return Image(
        data=data,
        url=url,
        detail=choice("image", "detail", detail, ("low", "high", "auto")),
        dimensions=size,
        media_type=media_type,
        p=p,
        prel=prel,
        key=text_or_none("image", "key", key),
    )


def _bytes(data: object) -> bytes:
    if isinstance(data, (bytes, bytearray)):
        return bytes(data)
    if isinstance(data, memoryview):
        return data.tobytes()
    raise wrong_type("data", f"image() needs bytes for data, got data={got(data)}")


def _dimensions(value: object) -> tuple[int, int] | None:
    if value is None:
        return None
    if not is_list(value) or len(value) != 2:
        raise wrong_type(
            "dimensions", f"image() needs (width, height) for dimensions, got dimensions={got(value)}"
        )
    width, height = (whole_number("image", f"dimensions[{i}]", side, least=1) for i, side in enumerate(value))
    return width, height


def _read_image(argument: str, data: bytes, size: tuple[int, int] | None) -> tuple[str, tuple[int, int]]:
    """Media type and size of a picture's bytes; the given size wins."""
    from priompt_py.model.image_size import ImageDataError, sniff_image

    try:
        info = sniff_image(data)
    except ImageDataError as error:
        raise wrong_value(argument, f"image(): {error}") from None
    if size is not None:
        return info.media_type, size
    if info.width is None or info.height is None:
        raise wrong_value(
            argument,
            f"image(): the size of this {info.media_type} can't be read from its bytes; "
            "give dimensions=(width, height)",
        )
    return info.media_type, (info.width, info.height)


def _url(
    url: str, size: tuple[int, int] | None
) -> tuple[str | None, bytes | None, str | None, tuple[int, int] | None]:
    """A data URL becomes its bytes, so that it is checked and counted like them."""
    if url[:5].lower() != "data:":
        if not url.strip():
            raise wrong_value("url", "image() needs a URL, got an empty text")
        return url, None, None, size
    import base64
    import binascii
    from urllib.parse import unquote_to_bytes

    head, comma, body = url.partition(",")
    if not comma or not head.lower().endswith(";base64"):
        raise wrong_value("url", "image(): a data URL needs the form data:image/...;base64,...")
    try:
        data = base64.b64decode(unquote_to_bytes("".join(body.split())), validate=True)
    except binascii.Error as error:
        raise wrong_value("url", f"image(): the data URL's base64 can't be read: {error}") from None
    media_type, size = _read_image("url", data, size)
    return None, data, media_type, size


@explained("part", takes_children=False)
def part(
    *,
    provider: str,
    data: Mapping[str, Any],
    tokens: int | None = None,
    p: Number | None = None,
    prel: Number | None = None,
    key: str | None = None,
) -> Part:
    """An opaque content part that only ``provider`` gets, verbatim; it costs ``tokens`` tokens, or
    the count of its JSON text. Without ``tokens`` it has to be JSON."""
    one_of_priorities("part", p, prel)
    provider = text("part", "provider", provider)
    if not provider:
        raise wrong_value("provider", "part() needs the provider's name, got an empty text")
    return Part(
        provider=provider,
        data=_part_data(data, strict=tokens is None),
        tokens=None if tokens is None else whole_number("part", "tokens", tokens),
        p=p,
        prel=prel,
        key=text_or_none("part", "key", key),
    )


def _part_data(data: object, *, strict: bool) -> dict[str, Any]:
    if not is_mapping(data):
        raise wrong_type("data", f"part() needs a mapping for data, got data={got(data)}")
    plain = {text("part", "a key of data", name): value for name, value in data.items()}
    copied: dict[str, Any] = json_argument("part", "data", plain, strict=strict)
    return copied
