"""Which terms a text defines: Russian, English and Chinese forms, found without a model.

==========  ==========================================================================================================
Russian     ``T [—] это | означает | обозначает | определяется как | представляет собой …``; ``под T понимается``;
            ``(далее — «T»)``; ``определим [термин] T как``
English     ``T means | shall mean | refers to | is defined as | denotes``; ``"T" is a | an | the``; ``hereinafter "T"``;
            ``define T as``
Chinese     ``“T”是指``, ``“T”指的是``
any         a line ``T: …`` with three words or more behind the colon
==========  ==========================================================================================================

T stands in quotes, or is the one to four words from the start of its clause to the marker. A clause ends at
``. ! ? ; :`` or the end of a line, and begins anew behind a comma. From an unquoted T a leading preposition goes with
its next word, and lead-ins go ("термин", "the word"); what is left holds no pronoun. No term are stop words alone, what
holds «ли», a single lower-case letter, a number, and labels ("итог", "note").
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

import attrs

from priompt_py.context.word_lists import fold, word_list
from priompt_py.context.words import CJK_RUN, WORD, cjk_runs, is_stop_word, stem, stems

__all__ = ["Definition", "definitions", "find_definitions", "label_of", "term_of"]


@attrs.frozen
class Definition:
    """A term as it is compared, and the label's folded text where it stood in a line ``T: …``."""

    term: str
    label: str | None = None


def definitions(text: str) -> list[str]:
    """The terms that ``text`` defines, as stems with a blank between them (a CJK term as it is), each once, in order.

    A text alone can't tell a definition ``T: …`` from a speaker's line; of a whole chat, labels that open three lines
    or more don't count.
    """
    return list(dict.fromkeys(definition.term for definition in find_definitions(text)))


def find_definitions(text: str) -> Iterator[Definition]:
    """The definitions in ``text``, in order of lines; within a line labels come first, then quoted terms."""
    text = unicodedata.normalize("NFKC", text)
    if _ANY_MARKER.search(text) is None:
        return
    for line in text.splitlines():
        if _ANY_MARKER.search(line) is not None:
            yield from _in_line(line)


def label_of(line: str) -> str | None:
    """The folded label that opens a line with a colon, or None."""
    match = _LABEL_LINE.match(unicodedata.normalize("NFKC", line))
    return None if match is None else fold(match["label"].strip(_MARKS))


def term_of(text: str) -> str:
    """A term as it is compared: stems with a blank between them; with CJK characters its folded text."""
    if CJK_RUN.search(text) is not None:
        return " ".join(fold(text).split())
    return " ".join(stems(text))


# ------------------------------------------------------------------------------------------ forms

_MARKS = " \t\"'*_`#>-—–•«»“”„‘’「」『』"
_QUOTED = (
    '«(?P<q1>[^«»\n]{1,100})»|[“„](?P<q2>[^“”„\n]{1,100})[”“]|"(?P<q3>[^"\n]{1,100})"|「(?P<q4>[^「」\n]{1,100})」'
    "|‘(?P<q5>[^‘’\n]{1,100})’|(?<!\\w)'(?P<q6>[^'\n]{1,100})'(?!\\w)"
)
# Every repetition has an end, so that no line takes more than time in proportion to its length.
_GAP = r"\s{1,9}"
_DASH = r"\s{0,9}[—–-]?\s{0,9}"
_PLAIN = r"[^\n,;:.!?()]{1,100}?"
_RU = rf"это|означа(?:ет|ют)|обознача(?:ет|ют)|определя(?:ется|ются){_GAP}как|представля(?:ет|ют){_GAP}собой"
# "mean" alone would take "doesn't mean" and "would mean", the commonest in chats.
_EN = rf"shall{_GAP}mean|means|refers{_GAP}to|(?:is|are){_GAP}defined{_GAP}as|denotes"
_VERB = rf"(?<!\w)(?:{_RU}|{_EN})(?!\w)"
_IS_UNDERSTOOD = r"понима(?:ется|ются|ют|ем|ть)"

_MARKER = re.compile(rf"(?<!\w){_DASH}{_VERB}", re.IGNORECASE)
_BY_QUOTES = re.compile(
    rf"(?:{_QUOTED})(?:{_DASH}{_VERB}|{_GAP}(?:is|are){_GAP}(?:an?|the)(?!\w)|\s?(?:是指|指的是|指))",
    re.IGNORECASE,
)
_UNDER = re.compile(
    rf"(?<!\w)под{_GAP}(?:(?:термином|понятием|словом|выражением){_GAP})?(?:{_QUOTED}|(?P<plain>{_PLAIN})){_GAP}{_IS_UNDERSTOOD}(?!\w)",
    re.IGNORECASE,
)
_FURTHER = re.compile(
    rf"\(\s?(?:(?:в{_GAP})?дальнейшем|далее)"
    rf"(?:{_GAP}(?:по{_GAP}тексту|также|совместно|именуем\w\w?\w?\w?)){{0,3}}\s?[—–:-]?\s?"
    rf"(?:{_QUOTED}|(?P<plain>[^\n()«»“”\"]{{1,100}}))\s?\)",
    re.IGNORECASE,
)
_HEREINAFTER = re.compile(
    rf"(?<!\w)hereinafter(?:{_GAP}(?:also|collectively)){{0,2}}(?:{_GAP}(?:referred{_GAP}to{_GAP}as|called))?[,:]?"
    rf"(?:{_GAP}the)?\s?(?:{_QUOTED})",
    re.IGNORECASE,
)
_DEFINE_RU = re.compile(
    rf"(?<!\w)(?:определим|определяем|назов[её]м){_GAP}(?:(?:термин(?:ом)?|понятием?){_GAP})?"
    rf"(?:{_QUOTED}|(?P<plain>{_PLAIN})){_GAP}как(?!\w)",
    re.IGNORECASE,
)
_DEFINE_EN = re.compile(
    rf"(?<!\w)define{_GAP}(?:the{_GAP})?(?:(?:term|word|notion){_GAP})?"
    rf"(?:{_QUOTED}|(?P<plain>{_PLAIN})){_GAP}as(?!\w)",
    re.IGNORECASE,
)
_LABEL_LINE = re.compile(
    r"[\s*_`#>•-]{0,20}(?P<label>[^\s:*_`#>•-][^:\n]{0,100}?)[*_`]{0,3}:[*_`]{0,3}(?=\s|$)"
)
_CJK_LABEL_LINE = re.compile(rf"\s?(?P<label>{CJK_RUN.pattern}):")
_CLAUSE_END = re.compile(r"[!?;:。]|\.(?![a-z0-9])|(?<![a-z0-9])\.")
_ANY_MARKER = re.compile(
    rf":|{_VERB}|(?<!\w)(?:{_IS_UNDERSTOOD}|далее|дальнейшем|как|hereinafter|as)(?!\w)"
    rf"|指|[»”\"'」’]{_GAP}(?:is|are)(?!\w)",
    re.IGNORECASE,
)

_MOST_WORDS = 4
_MOST_CJK = 12  # characters
_MOST_BEFORE = (
    400  # characters before a marker that are looked at, so that a line of markers takes linear time
)
_LEAST_BEHIND_LABEL = 3


def _in_line(line: str) -> Iterator[Definition]:
    yield from _labelled(line)
    quoted_ends: set[int] = set()
    for pattern in (_BY_QUOTES, _UNDER, _FURTHER, _HEREINAFTER, _DEFINE_RU, _DEFINE_EN):
        for match in pattern.finditer(line):
            quoted_ends.add(match.end())
            for name, value in match.groupdict().items():
                if value is not None:
                    term = _plain_term(value) if name == "plain" else _quoted_term(value)
                    if term is not None:
                        yield Definition(term)
    for match in _MARKER.finditer(line):
        if match.end() not in quoted_ends:
            near = line[max(0, match.start() - _MOST_BEFORE) : match.start()]
            ends = [end.end() for end in _CLAUSE_END.finditer(near)]
            term = _plain_term(near[ends[-1] if ends else 0 :])
            if term is not None:
                yield Definition(term)


def _labelled(line: str) -> Iterator[Definition]:
    match = _LABEL_LINE.match(line) or _CJK_LABEL_LINE.match(line)
    if match is None:
        return
    behind = line[match.end() :]
    size = len(WORD.findall(behind)) + sum(len(run) for run in cjk_runs(behind))
    label = match["label"].strip(_MARKS)
    if size < _LEAST_BEHIND_LABEL or _is_label(label):
        return
    term = _plain_term(label, cuts=False)
    if term is not None:
        yield Definition(term, fold(label))


def _is_label(text: str) -> bool:
    """Whether ``text`` is a label: its words, or its last one behind a number ("Шаг 2", "2. Итог")."""
    named = [word for word in _split(text) if not word.isdigit()]
    return bool(named) and all(word in word_list("labels") for word in named)


# ------------------------------------------------------------------------------------------ terms


def _split(text: str) -> list[str]:
    folded = fold(text)
    return [*WORD.findall(folded), *CJK_RUN.findall(folded)]


def _quoted_term(text: str) -> str | None:
    return term_of(text) if _is_term(text, _split(text)) else None


def _plain_term(text: str, *, cuts: bool = True) -> str | None:
    """The term that a clause begins with, up to its marker; None if it is none."""
    text = text.rpartition(",")[2].strip(_MARKS)
    if CJK_RUN.search(text) is not None:
        return term_of(text) if len(text) <= _MOST_CJK and _is_term(text, _split(text)) else None
    spans = [match.span() for match in WORD.finditer(text)]
    # What is folded can have another length, so that words are folded one by one.
    folded = [fold(text[start:end]) for start, end in spans]
    first = _lead(folded) if cuts else 0
    rest = folded[first:]
    if not 1 <= len(rest) <= _MOST_WORDS or any(word in word_list("pronouns") for word in rest):
        return None
    plain = text[spans[first][0] :]
    return " ".join(stem(word) for word in rest) if _is_term(plain, rest) else None


def _lead(folded: list[str]) -> int:
    """How many words at the start are no part of the term: prepositions with what follows them, and lead-ins."""
    first = 0
    while first < len(folded):
        if folded[first] in word_list("prepositions") and first + 1 < len(folded):
            first += 1
            while first + 1 < len(folded) and _is_determiner(folded[first]):
                first += 1
            first += 1
            # "В рамках настоящего договора …"
            while first + 2 < len(folded) and _is_determiner(folded[first]):
                first += 2
        elif folded[first] in word_list("lead_ins") and first + 1 < len(folded):
            first += 1
        else:
            break
    return first


def _is_determiner(word: str) -> bool:
    return word in word_list("determiners")


def _is_term(text: str, folded: list[str]) -> bool:
    """Whether words can be a term, however they stand; ``text`` is as it was written."""
    if not folded or "ли" in folded or all(is_stop_word(word) or word.isdigit() for word in folded):
        return False
    bare = text.strip(_MARKS)
    if len(folded) == 1 and len(folded[0]) == 1 and bare[:1].islower():
        return False
    return not all(word in word_list("labels") for word in folded)
