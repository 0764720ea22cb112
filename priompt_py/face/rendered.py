"""``Rendered``: what a render gives, and what it can be turned into."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any

import attrs

from priompt_py.errors import PromptError
from priompt_py.face.report import Report
from priompt_py.model.elements import Capture, Number, ToolDefinition
from priompt_py.model.memory import Memory
from priompt_py.model.outcome import CountKind, Decision, Outcome
from priompt_py.model.prompt import ChatMessage, PromptConfig, Tool
from priompt_py.model.source_map import SourceMap
from priompt_py.providers import openai, plain
from priompt_py.providers.late_system import LATE_SYSTEM_TEXT
from priompt_py.tokens.chat_format import ChatFormat
from priompt_py.tokens.tokenizer import Tokenizer

if TYPE_CHECKING:
    from rich.console import ConsoleRenderable, RichCast

    from priompt_py.providers.anthropic import AnthropicCache
    from priompt_py.providers.late_system import LateSystem

__all__ = ["Rendered"]

_SHOWN = 40  # characters of text in a repr


@attrs.frozen(eq=False, repr=False)
class Rendered:
    """A rendered prompt: immutable, and independent of the tree it came from. All figures are tokens.

    Two are equal if what they hold is: messages or text, tools, config, handlers, counts, limit and cutoff.

    Pickled, copied to another process say, it keeps everything but ``decisions``, ``source_map`` and ``report`` that nobody
    had asked for: asking the copy for them raises PromptError.
    """

    _outcome: Outcome = attrs.field(alias="outcome")
    _tokenizer: Tokenizer = attrs.field(alias="tokenizer")
    _chat_format: ChatFormat = attrs.field(alias="chat_format")
    _decide: Callable[[], tuple[Decision, ...]] | None = attrs.field(alias="decide")
    _spans: Callable[[], SourceMap] | None = attrs.field(default=None, alias="spans")
    _tell: Callable[[], Report] | None = attrs.field(default=None, alias="tell")
    _made: dict[str, Any] = attrs.field(init=False, factory=dict[str, Any])

    # ---------------------------------------------------------------------------------- what it holds

    @property
    def text(self) -> str | None:
        """The text of a plain prompt; None for a chat, whose flat form ``to_text()`` gives."""
        return None if self._outcome.text is None else self._outcome.text.text

    @property
    def messages(self) -> tuple[ChatMessage, ...] | None:
        """The messages of a chat, in tree order; None for a plain prompt."""
        return self._outcome.messages

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The definitions of the tools that are in, as they are sent."""
        return self._outcome.tools

    @property
    def token_count(self) -> int:
        """What the prompt costs, without what is reserved."""
        return self._outcome.token_count

    @property
    def tokens_reserved(self) -> int:
        """What the included ``empty`` elements keep free."""
        return self._outcome.tokens_reserved

    @property
    def token_limit(self) -> int:
        """The limit that it was rendered under."""
        return self._outcome.token_limit

    @property
    def limit_from(self) -> str:
        """Which setting decided the limit: ``token_limit (4000)``, ``window (8192) - answer (1000)``."""
        return self._outcome.limit_from

    @property
    def tokens_remaining(self) -> int:
        """Limit − count. What is reserved lies inside it."""
        return self._outcome.token_limit - self._outcome.token_count

    @property
    def cutoff(self) -> Number:
        """The chosen level: scopes of this priority and above are in."""
        return self._outcome.cutoff

    @property
    def memory(self) -> Memory:
        """Its cutoffs, for ``previous`` of the conversation's next render; empty where everything fit."""
        return self._outcome.memory

    @property
    def config(self) -> PromptConfig:
        """The request settings of all included ``config`` elements, merged."""
        return self._outcome.config

    @property
    def count_kind(self) -> CountKind:
        """Whether the tokenizer's counts are exact, an estimate or an upper bound."""
        return self._outcome.count_kind

    @property
    def captures(self) -> tuple[Capture, ...]:
        """The included ``capture`` elements, in document order."""
        return self._outcome.captures

    @property
    def tool_definitions(self) -> tuple[ToolDefinition, ...]:
        """The included ``tool_definition`` elements, with their handlers, in document order."""
        return self._outcome.tool_definitions

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """What became of each element, in document order; made when first asked for."""
        if "decisions" not in self._made:
            if self._decide is None:
                raise PromptError(
                    "this prompt was pickled before its decisions were made; ask for .decisions before pickling it"
                )
            self._made["decisions"] = self._decide()
        made: tuple[Decision, ...] = self._made["decisions"]
        return made

    @property
    def source_map(self) -> SourceMap | None:
        """Which element gave which stretch of ``to_text()``; None unless rendered with ``source_map=True``."""
        if "source_map" not in self._made:
            self._made["source_map"] = None if self._spans is None else self._spans()
        made: SourceMap | None = self._made["source_map"]
        return made

    @property
    def report(self) -> Report:
        """What is shown of it, as plain data; made when first asked for."""
        if "report" not in self._made:
            if self._tell is None:
                raise PromptError(
                    "this prompt was pickled before its report was made; ask for .report before pickling it"
                )
            self._made["report"] = self._tell()
        made: Report = self._made["report"]
        return made

    # ---------------------------------------------------------------------------------- conversions

    def to_openai(
        self, *, max_tokens_key: openai.MaxTokensKey = "max_completion_tokens", cache_marks: bool = False
    ) -> dict[str, Any]:
        """The request for ``client.chat.completions.create(model=..., **rendered.to_openai())``.

        ``max_tokens_key="max_tokens"`` is for servers that know no other name; ``cache_marks=True`` writes the
        author's marks for prefix caching. Raises ProviderError for what the API can't hold.
        """
        return openai.to_openai(self._outcome, max_tokens_key=max_tokens_key, cache_marks=cache_marks)

    def to_openai_responses(self, *, instructions: bool = True, cache_marks: bool = False) -> dict[str, Any]:
        """The request for ``client.responses.create(model=..., **rendered.to_openai_responses())``.

        A first system message of text alone becomes ``instructions``, unless that is False; ``cache_marks=True``
        writes the author's marks for prefix caching. Raises ProviderError for what the API can't hold.
        """
        from priompt_py.providers.openai_responses import to_openai_responses

        return to_openai_responses(self._outcome, instructions=instructions, cache_marks=cache_marks)

    def to_anthropic(
        self,
        *,
        late_system: LateSystem | None = None,
        late_system_text: str = LATE_SYSTEM_TEXT,
        lead_with_user: bool | str = True,
        flatten_tools: bool = False,
        cache: AnthropicCache | None = None,
        max_tokens: int | None = None,
    ) -> dict[str, Any]:
        """The request for ``client.messages.create(model=..., **rendered.to_anthropic())``.

        ``late_system`` says what becomes of a system message after others: it stays (``"inline"``), the user says it
        with ``late_system_text`` around it (``"user"``), or it leads too (``"hoist"``); None is an error. Where the
        assistant would begin, the user says ``lead_with_user``; False is an error. ``flatten_tools=True`` writes calls
        and results as text where the prompt holds no tool. ``cache`` is ``"auto"``, ``"marks"`` (the author's, also
        the default) or ``"off"``. ``max_tokens`` is what the answer may take where the prompt's config doesn't say.
        Raises ProviderError for what the API can't hold.
        """
        from priompt_py.providers.anthropic import to_anthropic

        return to_anthropic(
            self._outcome,
            late_system=late_system,
            late_system_text=late_system_text,
            lead_with_user=lead_with_user,
            flatten_tools=flatten_tools,
            cache=cache,
            max_tokens=max_tokens,
        )

    def to_gemini(
        self,
        *,
        late_system: LateSystem | None = None,
        late_system_text: str = LATE_SYSTEM_TEXT,
        lead_with_user: bool | str = True,
    ) -> dict[str, Any]:
        """The request for ``client.models.generate_content(model=..., **rendered.to_gemini())``.

        ``late_system`` (``"user"``, ``"hoist"`` or None) and ``lead_with_user`` are as in ``to_anthropic``. Raises
        ProviderError for what the API can't hold.
        """
        from priompt_py.providers.gemini import to_gemini

        return to_gemini(
            self._outcome,
            late_system=late_system,
            late_system_text=late_system_text,
            lead_with_user=lead_with_user,
        )

    def to_langchain(self) -> list[dict[str, Any]]:
        """The messages for ``model.invoke(rendered.to_langchain())``, as plain data; tools and settings are the
        model's. Raises ProviderError for what it can't hold."""
        from priompt_py.providers.langchain import to_langchain

        return to_langchain(self._outcome)

    def to_text(self, *, defuse: bool = False) -> str:
        """The text of a plain prompt, the flat form of a chat; content as it is, or with its control marks defused."""
        return plain.to_text(self._outcome, self._chat_format, defuse=defuse)

    def to_tokens(self) -> list[int]:
        """Exactly ``token_count`` token ids. Raises ProviderError for images, tools, tool calls and parts, and
        TokenizerError where tokenizer or chat format have no ids."""
        return plain.to_tokens(self._outcome, self._tokenizer, self._chat_format)

    def token_offsets(self) -> list[int]:
        """For each of ``to_tokens()`` the code point of ``to_text()`` in which it begins, 0-based: with
        ``source_map.at(offset)``, what it comes from. Raises as ``to_tokens`` does."""
        from priompt_py.face.positions import token_offsets

        self.to_tokens()  # says why there are none
        return token_offsets(self._outcome, self._tokenizer, self._chat_format)

    def tokens_before(self, offset: int) -> int:
        """How many tokens are sent before the code point ``offset`` of ``to_text()`` (0-based), tools included.

        It is counted, also where a prompt has no token ids: within a token, that one may count or not.
        """
        from priompt_py.face.positions import tokens_before

        return tokens_before(self._outcome, self.report, self._tokenizer.count, self.to_text(), offset)

    def to_messages(self) -> list[dict[str, Any]]:
        """The messages as JSON data that belong to no provider; a plain prompt is one user message."""
        return plain.to_messages(self._outcome)

    def to_json(self, *, decisions: bool = False) -> dict[str, Any]:
        """Everything as JSON data: messages or text, tools, counts, cutoff and config; with ``decisions`` those too."""
        return plain.to_json(self._outcome, self.decisions if decisions else None)

    # ---------------------------------------------------------------------------------- as a value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rendered):
            return NotImplemented
        return self._outcome == other._outcome

    def __hash__(self) -> int:
        found = self._outcome
        parts = len(found.messages) if found.text is None and found.messages is not None else found.text
        return hash((parts, found.token_count, found.tokens_reserved, found.token_limit, found.cutoff))

    def __repr__(self) -> str:
        if self.messages is None:
            text = self.text or ""
            what = repr(text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "...")
        else:
            what = f"{len(self.messages)} {'message' if len(self.messages) == 1 else 'messages'}"
        if self.tools:
            what += f", {len(self.tools)} {'tool' if len(self.tools) == 1 else 'tools'}"
        reserved = f" + {self.tokens_reserved} reserved" if self.tokens_reserved else ""
        about = "" if self.count_kind == "exact" else f" ({self.count_kind.replace('_', ' ')})"
        return f"<Rendered {what}: {self.token_count}{reserved} of {self.token_limit} tokens{about}, cutoff {self.cutoff}>"

    def __rich__(self) -> RichCast | ConsoleRenderable | str:
        """What rich prints of it: messages in frames, what was left out, the budget."""
        if self._tell is None and "report" not in self._made:
            return repr(self)
        from priompt_py.face.panels import Panel

        return Panel(self.report)

    def _repr_html_(self) -> str:
        """What notebooks show of it."""
        if self._tell is None and "report" not in self._made:
            return f"<pre>{escape(repr(self))}</pre>"
        from priompt_py.face.html import report_html

        return report_html(self.report)

    def __copy__(self) -> Rendered:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Rendered:
        return self

    def __reduce__(self) -> tuple[Callable[..., Rendered], tuple[Any, ...]]:
        made = dict(self._made)
        if "decisions" in made:
            made["decisions"] = tuple(_settled(decision) for decision in made["decisions"])
        spans = None if self._spans is None else _no_source_map
        return Rendered._from_pickle, (self._outcome, self._tokenizer, self._chat_format, spans, made)

    @classmethod
    def _from_pickle(
        cls,
        outcome: Outcome,
        tokenizer: Tokenizer,
        chat_format: ChatFormat,
        spans: Callable[[], SourceMap] | None,
        made: dict[str, Any],
    ) -> Rendered:
        rendered = cls(
            outcome=outcome, tokenizer=tokenizer, chat_format=chat_format, decide=None, spans=spans
        )
        rendered._made.update(made)
        return rendered


@attrs.frozen
class _Counted:
    """The count of a decision that was made in another process."""

    tokens: int

    def __call__(self) -> int:
        return self.tokens


def _settled(decision: Decision) -> Decision:
    """A decision that holds its count, and no more the means to find it."""
    return attrs.evolve(decision, count=_Counted(decision.tokens))


def _no_source_map() -> SourceMap:
    raise PromptError(
        "this prompt was pickled before its source map was made; ask for .source_map before pickling it"
    )
