"""Strings that are hard on tokenizers, for the tests of this room."""

from __future__ import annotations

import pickle
import random
from typing import TypeVar

from hypothesis import strategies as st

ENCODINGS = ("o200k_base", "cl100k_base", "p50k_base", "r50k_base")

T = TypeVar("T")

#: Short texts around which pre-tokenising patterns and Unicode versions differ.
FRAGMENTS = (
    *(
        " ",
        "  ",
        "    ",
        "\t",
        "\n",
        "\n\n",
        "\r",
        "\r\n",
        "\v",
        "\f",
        "\x1c",
        "\x1f",
        "\x85",
        "\xa0",
        "\u2028",
        "\u3000",
    ),
    *(
        "/",
        "//",
        "!",
        "...",
        "{}",
        "'",
        "'s",
        "'S",
        "'ll",
        "'ſ",
        "<|endoftext|>",
        "<|im_end|>",
        "-",
        "_",
        "\u200b",
        "\ufeff",
    ),
    *(
        "a",
        "Z",
        "the",
        "HTTPServer",
        "don't",
        "ß",
        "Ж",
        "слово",
        "λ",
        "שלום",
        "مرحبا",
        "नमस्ते",
        "สวัสดี",
        "中文",
        "カナ",
        "한국",
    ),
    *(
        "0",
        "12",
        "3456789",
        "٣",
        "៣",
        "½",
        "Ⅷ",
        "²",
        "ǅ",
        "ʰ",
        "e\u0301",
        "\u0301",
        "👍",
        "👩‍👩‍👧",
        "🇩🇪",
        "\ud83d",
        "\udc4d",
        "\x00",
    ),
    *("\U0001e900", "\U0002ebf0", "\U00010d4a"),  # Adlam; CJK of Unicode 15.1; Garay of Unicode 16
)

fragments = st.sampled_from(FRAGMENTS)
hard_texts = st.lists(fragments | st.characters(), max_size=24).map("".join)


def random_texts(number: int, longest: int, seed: int = 0) -> list[str]:
    """So many texts of at most so many fragments, always the same ones."""
    source = random.Random(seed)
    return ["".join(source.choices(FRAGMENTS, k=source.randint(0, longest))) for _ in range(number)]


def pickled(value: T) -> T:
    """``value`` after a trip through pickle."""
    again: T = pickle.loads(pickle.dumps(value))  # noqa: S301 - our own data
    return again
