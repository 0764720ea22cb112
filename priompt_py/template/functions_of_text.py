"""Functions on texts. Their docstrings are their reference."""

from __future__ import annotations

import re
from typing import Any

from priompt_py.errors import PromptError
from priompt_py.template.bounds import Fault
from priompt_py.template.builtin import Context, builtin, listed, text_argument, whole_argument
from priompt_py.template.source import shared_start
from priompt_py.template.values import text_of, truth_of


@builtin
def _capitalize(context: Context, text: str) -> str:
    """The first character as a capital, the others small."""
    return _changed(context, text_argument("capitalize", text)).capitalize()


@builtin
def _upper(context: Context, text: str) -> str:
    """All in capitals."""
    return _changed(context, text_argument("upper", text)).upper()


@builtin
def _lower(context: Context, text: str) -> str:
    """All in small letters."""
    return _changed(context, text_argument("lower", text)).lower()


@builtin
def _title(context: Context, text: str) -> str:
    """Each word with a capital."""
    return _changed(context, text_argument("title", text)).title()


def _changed(context: Context, text: str) -> str:
    context.budget.characters(3 * len(text) if not text.isascii() else len(text))
    return text


@builtin
def _strip(context: Context, text: str, characters: str | None = None) -> str:
    """Without blanks (or these characters, at most 100) at both ends."""
    context.budget.characters(len(text_argument("strip", text)))
    if characters is not None and len(text_argument("strip", characters)) > _MOST_STRIPPED:
        raise Fault(f"strip takes at most {_MOST_STRIPPED:,} characters, got {len(characters):,}")
    return text.strip(characters)


_MOST_STRIPPED = 100
"""Each character at the ends is looked for among them."""


@builtin
def _replace(context: Context, text: str, old: str, new: str) -> str:
    """With `new` in place of each `old`."""
    count = text_argument("replace", text).count(text_argument("replace", old))
    context.budget.characters(
        len(text) + count * max(0, len(text_argument("replace", new)) - len(old)) + count
    )
    return text.replace(old, new)


@builtin
def _split(context: Context, text: str, separator: str | None = None) -> list[str]:
    """The parts between blanks, or between the separators."""
    if separator == "":
        raise Fault("split needs a separator that is not empty")
    context.budget.characters(len(text_argument("split", text)))
    count = text.count(text_argument("split", separator)) + 1 if separator is not None else len(text) // 2 + 1
    if separator is not None:
        context.budget.items(count)
    parts = text.split(separator)
    context.budget.items(len(parts))
    return parts


@builtin
def _join(context: Context, items: Any, separator: str = "") -> str:
    """The items' texts, with the separator between them."""
    texts = [text_of(item) for item in listed(context, items)]
    context.budget.characters(
        sum(map(len, texts)) + len(text_argument("join", separator)) * max(0, len(texts) - 1)
    )
    return separator.join(texts)


@builtin
def _lines(context: Context, text: str) -> list[str]:
    """The lines, without their breaks; what a last break ends is no further line."""
    context.budget.characters(len(text_argument("lines", text)))
    context.budget.items(text.count("\n") + 1)
    found = text.split("\n")
    if not found[-1]:
        found.pop()
    return [line.removesuffix("\r") for line in found]


@builtin
def _indent(context: Context, text: str, width: int = 4, first: bool = False) -> str:  # noqa: FBT001, FBT002
    """With so many blanks before each line but the first (that too with `first=True`); blank lines get none."""
    if whole_argument("indent", width, least=0) > 1_000:
        raise Fault("indent takes at most 1,000 blanks")
    count = text_argument("indent", text).count("\n") + 1
    context.budget.characters(len(text) + count * width)
    blanks = " " * width
    done = re.sub(r"\n(?=[^\n])", "\n" + blanks, text)
    return blanks + done if truth_of(first) and done else done


@builtin
def _dedent(context: Context, text: str) -> str:
    """Without the blanks that all lines share."""
    context.budget.characters(2 * len(text_argument("dedent", text)))
    lines = text.split("\n")
    context.budget.step(len(lines))
    shared = shared_start(
        [line[: len(line) - len(line.lstrip(" \t"))] for line in lines if line.strip(" \t")]
    )
    return "\n".join(line.removeprefix(shared) if line.strip(" \t") else line.lstrip(" \t") for line in lines)


@builtin
def _truncate(context: Context, text: str, length: int, marker: str = "…") -> str:
    """Cut to so many characters (code points), marker included."""
    size = whole_argument("truncate", length, least=0)
    if len(text_argument("truncate", text)) <= size:
        return text
    end = text_argument("truncate", marker)
    context.budget.characters(size)
    return text[: size - len(end)] + end if len(end) <= size else end[:size]


@builtin
def _fit(context: Context, text: str, tokens: int, marker: str = "…", keep: str = "head") -> str:
    """Cut to so many tokens, marker included; `keep` says what stays: `head`, `tail` or `ends`. Takes words of up to 100,000 characters."""
    from priompt_py.tokens.truncate import truncate_to

    context.budget.characters(len(text_argument("fit", text)) + len(text_argument("fit", marker)))
    context.budget.step(whole_argument("fit", tokens, least=0) // 4 + len(text) // 16)
    _check_words("fit", text)
    choice: Any = keep
    try:
        return truncate_to(text, tokens, context.tokenizer(), marker=marker, keep=choice)
    except PromptError as error:
        raise Fault(str(error).replace("truncate_to()", "fit")) from None


@builtin
def _tokens(context: Context, text: str) -> int:
    """How many tokens a text has. Takes words of up to 100,000 characters."""
    context.budget.characters(len(text_argument("tokens", text)))
    context.budget.step(len(text) // 4)
    _check_words("tokens", text)
    return context.tokenizer().count(text)


_LONGEST_WORD = 100_000
_HALF = _LONGEST_WORD // 2
_RUNS = (re.compile(r"\s"), "a word"), (re.compile(r"\S"), "a run of blanks")


def _check_words(name: str, text: str) -> None:
    """Refuse a word (or blanks) that a tokenizer would take much time and memory for."""
    if len(text) <= _LONGEST_WORD:
        return
    # What is longer holds one of these pieces wholly: only around such a one is looked.
    for at in range(0, len(text), _HALF):
        for other, what in _RUNS:
            if other.search(text, at, at + _HALF) is None:
                before = max(at - _LONGEST_WORD, 0)
                start = max((one.end() for one in other.finditer(text, before, at)), default=before)
                found = other.search(text, at)
                end = len(text) if found is None else found.start()
                if end - start > _LONGEST_WORD:
                    raise Fault(
                        f"{name} takes words of at most {_LONGEST_WORD:,} characters: {what} is longer"
                    )
