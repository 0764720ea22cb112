"""What a message speaks of: the terms of a query, and phrases of stems, found in text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import cast

import attrs

from priompt_py.context.messages import Message, TextPart, ToolCallPart, ToolResultPart
from priompt_py.context.terms import term_of
from priompt_py.context.word_lists import fold, word_list
from priompt_py.context.words import CJK_RUN, WORD, bigrams, is_stop_word, stem

__all__ = ["Analysed", "Phrases", "Query", "analysed", "content_of", "query_of"]


# ------------------------------------------------------------------------------------------ text


@attrs.frozen
class Analysed:
    """A text as it is searched: its stems in order, and its folded text where it holds CJK characters."""

    stems: tuple[str, ...]
    cjk: str = ""


def analysed(text: str) -> Analysed:
    """``text`` as it is searched."""
    folded = fold(text)
    return Analysed(
        tuple(stem(word) for word in WORD.findall(folded)),
        folded if not folded.isascii() and CJK_RUN.search(folded) else "",
    )


def content_of(message: Message, *, calls: bool = False) -> str:
    """The text of a message and of the results that it holds; with ``calls`` also what its calls ask for and the
    names of its attachments. A line feed stands between."""
    texts: list[str] = []
    for part in message.parts:
        if isinstance(part, TextPart):
            texts.append(part.text)
        elif isinstance(part, ToolResultPart):
            texts.append(part.content)
        elif calls and isinstance(part, ToolCallPart):
            texts += _argument_texts(part.args)
    if calls:
        texts += [attachment.name for attachment in message.attachments]
    return texts[0] if len(texts) == 1 else "\n".join(texts)


def _argument_texts(args: str) -> list[str]:
    """The texts in a call's arguments, without JSON's escapes; all of it where it is no JSON."""
    try:
        value: object = json.loads(args)
    except (ValueError, RecursionError):
        return [args]
    found: list[str] = []
    stack = [value]
    while stack:
        here = stack.pop()
        if isinstance(here, str):
            found.append(here)
        elif isinstance(here, dict):
            stack += reversed(list(cast("dict[str, object]", here).values()))
        elif isinstance(here, list):
            stack += reversed(cast("list[object]", here))
    return found


# ------------------------------------------------------------------------------------------ queries


@attrs.frozen
class Query:
    """The content words of a question as stems, and for each of its CJK runs the bigrams and how many must occur."""

    stems: frozenset[str]
    runs: tuple[tuple[frozenset[str], int], ...] = ()

    def matches(self, text: Analysed) -> bool:
        """Whether the text shares at least one term with the question."""
        if not self.stems.isdisjoint(text.stems):
            return True
        return bool(text.cjk) and any(
            sum(bigram in text.cjk for bigram in pairs) >= needed for pairs, needed in self.runs
        )


def query_of(text: str) -> Query:
    """The terms of a question.

    Content words are no stop words, and have three letters or more, unless they are in capitals or hold a digit. The
    bigrams of a CJK run are those without stop characters, of which two must occur, or one where there is only one.
    """
    found: set[str] = set()
    for match in WORD.finditer(text):
        for word in WORD.findall(fold(match[0])):
            short = len(word) < 3 and not match[0].isupper() and not any(map(str.isdigit, word))
            if not short and not is_stop_word(word):
                found.add(stem(word))
    stop = "".join(word_list("cjk_stop"))
    runs: list[tuple[frozenset[str], int]] = []
    for run in CJK_RUN.findall(fold(text)):
        pairs = frozenset(pair for pair in bigrams(run) if len(pair) == 2 and not set(pair) & set(stop))
        if pairs:
            runs.append((pairs, min(2, len(pairs))))
    return Query(frozenset(found), tuple(runs))


# ------------------------------------------------------------------------------------------ phrases


class Phrases:
    """Terms to look for, all in one walk over a text.

    A term is a run of stems that must stand in a row; one with CJK characters is looked for as text, and so is one that
    holds no word at all ("§").
    """

    def __init__(self, terms: Iterable[str] = ()) -> None:
        # By first stem, then by length: many terms with one beginning cost no more than one.
        self._by_stem: dict[str, dict[int, dict[tuple[str, ...], str]]] = {}
        self._by_character: dict[str, dict[tuple[int, int], set[str]]] = {}
        self._signs: list[str] = []
        for term in terms:
            self._add(term)

    def __bool__(self) -> bool:
        return bool(self._by_stem or self._by_character or self._signs)

    @classmethod
    def of_texts(cls, texts: Iterable[str]) -> Phrases:
        """The phrases that texts are, as people write them."""
        return cls(term_of(text) or " ".join(fold(text).split()) for text in texts)

    def _add(self, term: str) -> None:
        cjk = CJK_RUN.search(term)
        if cjk is not None:
            place = (cjk.start(), len(term))
            self._by_character.setdefault(term[cjk.start()], {}).setdefault(place, set()).add(term)
        elif WORD.search(term) is None:
            self._signs.append(term)
        else:
            stems = tuple(term.split())
            self._by_stem.setdefault(stems[0], {}).setdefault(len(stems), {})[stems] = term

    def find(self, text: Analysed, raw: str = "") -> Iterator[str]:
        """The terms that occur in ``text``; may give one several times. ``raw`` is the text as written, for signs."""
        if self._by_stem:
            for i, first in enumerate(text.stems):
                for length, terms in self._by_stem.get(first, _NOTHING).items():
                    term = terms.get(text.stems[i : i + length])
                    if term is not None:
                        yield term
        if self._by_character and text.cjk:
            for i, character in enumerate(text.cjk):
                for (offset, length), found in self._by_character.get(character, _NOWHERE).items():
                    here = text.cjk[i - offset : i - offset + length] if i >= offset else ""
                    if here in found:
                        yield here
        if self._signs:
            folded = fold(raw)
            yield from (sign for sign in self._signs if sign in folded)

    def any_in(self, text: Analysed, raw: str = "") -> bool:
        """Whether at least one of the terms occurs."""
        return next(self.find(text, raw), None) is not None


_NOTHING: Mapping[int, dict[tuple[str, ...], str]] = {}
_NOWHERE: Mapping[tuple[int, int], set[str]] = {}
