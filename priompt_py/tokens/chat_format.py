"""What a chat costs in tokens, and its flat form as text and ids.

The flat form of OpenAI's chats: each message is

    <|im_start|> role [":" name] [" to=" to] <|im_sep|> content <|im_end|>

and then comes ``<|im_start|>assistant<|im_sep|>``, where the answer starts. Sources: OpenAI cookbook, "How to
count tokens with tiktoken" (what is around messages and answers); ids of the marks: for cl100k_base tiktoken's README
(start and end) and the special tokens that follow; for o200k_base openai/harmony (start, message and end).

Another format is another :class:`ChatFormat` with its own figures and marks (``attrs.evolve`` of one of those
here, or a subclass that overrides ``header``, ``message_cost`` and ``call_cost``); pass it as ``chat_format=``, or
let your tokenizer carry it as its ``chat_format``. What must hold for every format: ``len(flat_ids(…))`` is the sum
of ``message_cost`` and of the content's counts, plus ``chat_cost``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

import attrs

from priompt_py.errors import TokenizerError

__all__ = [
    "HARMONY_CHAT",
    "OPENAI_CHAT",
    "OPENAI_CHAT_CL100K",
    "OPENAI_CHAT_O200K",
    "PLAIN_FORMAT",
    "ChatFormat",
    "FlatMessage",
]

#: Role, name, ``to``, and the content as pieces that are tokenised one by one (no token spans two pieces).
FlatMessage: TypeAlias = "tuple[str, str | None, str | None, Sequence[str]]"

Count: TypeAlias = Callable[[str], int]
Encode: TypeAlias = Callable[[str], "Sequence[int]"]


def _own_ids(ids: Mapping[str, int] | None) -> Mapping[str, int] | None:
    return None if ids is None else dict(ids)


@attrs.frozen
class ChatFormat:
    """Costs (all in tokens) and marks of a chat format. Plain data; the defaults are OpenAI's.

    ``message_tokens``: the frame of a message: start mark, role, separator, end mark. ``answer_tokens``: the start of
    the answer, once a chat when at least one message is in. ``incomplete_tokens``: how many fewer when the model goes
    on writing the last message (no end mark, no start of an answer). ``call_tokens``: for each tool call, besides its
    name and arguments. ``answer``: the text of the role of the answer; ``answer_sep``: whether a separator follows it.
    ``special_ids``: the id of each mark; ``None`` if ids can't be had, ``flat_ids`` then refuses.
    ``control_marks``: further texts that could pass for control tokens, besides the three marks.
    """

    name: str
    message_tokens: int = 4
    answer_tokens: int = 3
    incomplete_tokens: int = 4
    call_tokens: int = 3
    im_start: str = "<|im_start|>"
    im_sep: str = "<|im_sep|>"
    im_end: str = "<|im_end|>"
    answer: str = "assistant"
    answer_sep: bool = True
    special_ids: Mapping[str, int] | None = attrs.field(default=None, converter=_own_ids, hash=False)
    control_marks: tuple[str, ...] = ("<|endoftext|>", "<|endofprompt|>")

    # --------------------------------------------------------------------------------------- costs

    def message_cost(self, count: Count, *, name: str | None = None, to: str | None = None) -> int:
        """What a message costs besides its content and its tool calls."""
        cost = self.message_tokens
        for part in self._address(name, to):
            cost += count(part)
        return cost

    def call_cost(self, count: Count, *, name: str, arguments: str) -> int:
        """What one tool call of a message costs; ``arguments`` is the JSON text that is sent."""
        return count(name) + count(arguments) + self.call_tokens

    def chat_cost(self, messages: int, *, incomplete: bool = False) -> int:
        """What a chat of so many messages costs besides them: 0 without any, else the start of the answer.

        With ``incomplete`` it is less, and below 0: the last message's end mark is not there, but its cost counts it.
        """
        if not messages:
            return 0
        return self.answer_tokens - (self.incomplete_tokens if incomplete else 0)

    # ----------------------------------------------------------------------------------- flat form

    def header(self, role: str, name: str | None = None, to: str | None = None) -> str:
        """What stands between the start mark and the separator."""
        return role + "".join(self._address(name, to))

    def flat_text(
        self, messages: Iterable[FlatMessage], *, incomplete: bool = False, defuse: bool = False
    ) -> str:
        """The chat as one text. For people and source maps: ids are made by ``flat_ids``, not from this text.

        With ``defuse`` every control mark within content, a name or a ``to`` gets a blank after its ``<|``, so that
        the text reads back as the same messages; nothing else changes.
        """
        keep: Callable[[str], str] = self.defuse if defuse else str
        parts: list[str] = []
        for role, name, to, pieces in messages:
            parts += (self.im_start, keep(self.header(role, name, to)), self.im_sep)
            parts += (keep("".join(pieces)), self.im_end)
        if parts and incomplete:
            parts.pop()
        elif parts:
            parts += (self.im_start, self.answer, self.im_sep if self.answer_sep else "")
        return "".join(parts)

    def flat_ids(
        self, messages: Iterable[FlatMessage], encode: Encode, *, incomplete: bool = False
    ) -> list[int]:
        """The chat as token ids: marks as their special ids, all else as ordinary text.

        Role, ``:name`` and `` to=…`` are encoded apart, as they are counted. Raises :class:`TokenizerError` if the
        format has no ids for its marks, or if the encoding has no single token for a role (then the frame's cost does
        not hold).
        """
        if self.special_ids is None:
            raise TokenizerError(
                f"the chat format {self.name!r} has no ids for its marks, so no ids of a chat"
            )
        start, sep, end = (self.special_ids[mark] for mark in (self.im_start, self.im_sep, self.im_end))
        ids: list[int] = []
        for role, name, to, pieces in messages:
            ids += (start, self._role_id(role, encode))
            for part in self._address(name, to):
                ids += encode(part)
            ids.append(sep)
            for piece in pieces:
                ids += encode(piece)
            ids.append(end)
        if ids and incomplete:
            ids.pop()
        elif ids:
            ids += (start, self._role_id(self.answer, encode), *((sep,) if self.answer_sep else ()))
        return ids

    def defuse(self, text: str) -> str:
        """``text`` with a blank after the ``<|`` of every whole control mark, and no other change."""
        if "<" not in text:
            return text
        marks = dict.fromkeys((self.im_start, self.im_sep, self.im_end, *self.control_marks))
        pattern = "|".join(re.escape(mark) for mark in marks if mark)
        # The blank goes into the mark, so no other mark can arise from the change.
        return re.sub(pattern, lambda found: f"{found[0][:2]} {found[0][2:]}", text) if pattern else text

    def _address(self, name: str | None, to: str | None) -> list[str]:
        return [*(() if name is None else (f":{name}",)), *(() if to is None else (f" to={to}",))]

    def _role_id(self, role: str, encode: Encode) -> int:
        ids = encode(role)
        if len(ids) != 1:
            raise TokenizerError(
                f"the chat format {self.name!r} counts a role as one token, but {role!r} is {len(ids)} tokens here"
            )
        return ids[0]


def _ids(start: int, sep: int, end: int) -> dict[str, int]:
    return {"<|im_start|>": start, "<|im_sep|>": sep, "<|im_end|>": end}


#: OpenAI's costs, for tokenizers that have no format of their own; without ids.
OPENAI_CHAT = ChatFormat("openai_chat")

#: OpenAI's chats in o200k_base: gpt-4o and later.
OPENAI_CHAT_O200K = ChatFormat("openai_chat_o200k", special_ids=_ids(200_006, 200_008, 200_007))

#: OpenAI's chats in cl100k_base: gpt-4, gpt-3.5-turbo.
OPENAI_CHAT_CL100K = ChatFormat("openai_chat_cl100k", special_ids=_ids(100_264, 100_266, 100_265))

#: gpt-oss's "harmony" chats: the same three ids under other names, and no separator after the answer's role, since the
#: model first names its channel. Source: openai/harmony, docs/format.md.
HARMONY_CHAT = ChatFormat(
    "harmony",
    answer_tokens=2,
    incomplete_tokens=3,
    im_start="<|start|>",
    im_sep="<|message|>",
    im_end="<|end|>",
    answer_sep=False,
    special_ids={"<|start|>": 200_006, "<|message|>": 200_008, "<|end|>": 200_007},
    control_marks=(
        "<|channel|>",
        "<|constrain|>",
        "<|return|>",
        "<|call|>",
        "<|startoftext|>",
        "<|endoftext|>",
        "<|endofprompt|>",
    ),
)

#: Messages at no cost at all: only their text counts.
PLAIN_FORMAT = ChatFormat(
    "plain", message_tokens=0, answer_tokens=0, incomplete_tokens=0, call_tokens=0, control_marks=()
)
