"""Tokens and characters of one render: where each token begins, and how many tokens stand before a character."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from priompt_py.face.report import Report
from priompt_py.model.outcome import Outcome
from priompt_py.model.prompt import split_at
from priompt_py.tokens.chat_format import ChatFormat
from priompt_py.tokens.tokenizer import Tokenizer

__all__ = ["token_offsets", "tokens_before"]


def token_offsets(outcome: Outcome, tokenizer: Tokenizer, chat_format: ChatFormat) -> list[int]:
    """For each token id of the prompt the code point of the flat text in which it begins.

    The marks of a chat's frames, roles and names are tokens too. The outcome's ids can be had: see ``to_tokens``.
    """
    if outcome.text is not None:
        pieces = split_at(outcome.text.text, outcome.text.breaks)
        return [
            offset for start, piece in _placed(pieces, 0) for offset in _in_piece(piece, start, tokenizer)
        ]
    found: list[int] = []
    at = 0
    messages = outcome.messages or ()
    for message in messages:
        found.append(at)  # the start mark
        at += len(chat_format.im_start)
        header = chat_format.header(message.role, message.name, message.to)
        found.append(at)
        rest = at + len(message.role)
        named = f":{message.name}" if message.name is not None else ""
        sent = f" to={message.to}" if message.to is not None else ""
        for start, piece in _placed([named, sent], rest):
            found += _in_piece(piece, start, tokenizer)
        at += len(header)
        found.append(at)  # the separator
        at += len(chat_format.im_sep)
        for start, piece in _placed(message.pieces, at):
            found += _in_piece(piece, start, tokenizer)
        at += len(message.text)
        found.append(at)  # the end mark
        at += len(chat_format.im_end)
    if outcome.last_message_incomplete:
        del found[-1:]
    elif messages:
        found += [at, at + len(chat_format.im_start)]
        if chat_format.answer_sep:
            found.append(at + len(chat_format.im_start) + len(chat_format.answer))
    return found


def _placed(pieces: Sequence[str], start: int) -> Iterator[tuple[int, str]]:
    """Pieces side by side, and where each begins."""
    for piece in pieces:
        yield start, piece
        start += len(piece)


def _in_piece(piece: str, start: int, tokenizer: Tokenizer) -> Iterator[int]:
    """Where the tokens of a piece begin: a character of several tokens is the place of each but the first of them."""
    if not piece:
        return
    base = 0  # where the ids begin whose bytes don't end with a character yet
    open_ids: list[int] = []
    within = 0  # whole characters of theirs
    for number in tokenizer.encode(piece):
        yield start + base + within
        open_ids.append(number)
        text = tokenizer.decode(open_ids)
        if piece.startswith(text, base):
            base += len(text)
            open_ids = []
            within = 0
        else:  # bytes that are no character decode to U+FFFD
            within = _common(text, piece, base)


def _common(text: str, piece: str, at: int) -> int:
    count = 0
    while count < len(text) and at + count < len(piece) and text[count] == piece[at + count]:
        count += 1
    return count


def tokens_before(
    outcome: Outcome, report: Report, count: Callable[[str], int], text: str, offset: int
) -> int:
    """How many tokens stand before a code point of the flat text, tools included: counted, so that a token in which the
    code point lies may count or not."""
    if outcome.text is not None:
        breaks = [at for at in outcome.text.breaks if at < offset]
        return sum(map(count, split_at(text[:offset], tuple(breaks))))
    before = sum(
        piece.tokens for piece in report.pieces() if piece.included and piece.kind == "tool_definition"
    )
    for message in report.messages:
        if message.start is None or message.end is None or message.role is None or message.start >= offset:
            continue
        if message.end <= offset:
            before += message.tokens
            continue
        started = False
        for piece in message.pieces:
            if piece.start is None or piece.end is None or piece.start > offset:
                continue
            started = True
            if piece.end <= offset:
                before += piece.tokens if piece.kind != "empty" else 0
            else:
                before += count(text[piece.start : offset])
        if started:  # all of the frame but the end mark
            before += max(0, message.frame_tokens - 1)
    return before
