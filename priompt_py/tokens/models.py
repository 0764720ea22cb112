"""Models: which encoding they count with, what tools and images cost there, how large their window is.

One table, :data:`MODELS`, data only. Sources: encodings from tiktoken 0.14 (``tiktoken/model.py``); names from
OpenAI's Python library (``openai/types/shared/chat_model.py``); windows and longest answers from the providers' model
pages, as of October 2026. What a provider has not published is ``None`` or, for encodings, an estimate by name.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import attrs

from priompt_py.errors import TokenizerError

if TYPE_CHECKING:
    from priompt_py.tokens.chat_format import ChatFormat

__all__ = ["MODELS", "ModelInfo", "find_model", "info_for_encoding", "model_info", "unknown_name"]


@attrs.frozen
class ModelInfo:
    """What is known about a model or a family of models. Sizes are tokens, ``None`` where not known.

    ``key`` is the family's name in the table. ``encoding`` is a name for ``get_tokenizer``; names that end in
    ``_estimate`` are no encodings but estimates. ``tools`` and ``images`` are families of
    :mod:`~priompt_py.tokens.tool_cost` and :mod:`~priompt_py.tokens.image_cost`. ``window`` holds prompt and answer
    together; ``max_prompt`` is a lower bound of its own for the prompt.
    """

    key: str
    encoding: str
    tools: str
    images: str
    window: int | None = None
    max_answer: int | None = None
    max_prompt: int | None = None

    @property
    def chat_format(self) -> ChatFormat:
        """The chat format of the model's encoding."""
        from priompt_py.tokens.tokenizer import chat_format_of, get_tokenizer

        return chat_format_of(get_tokenizer(self.encoding))


def _table() -> Iterable[ModelInfo]:
    new, old = "o200k_base", "cl100k_base"

    # --- OpenAI, chat. The key is a whole name, or a name's part before "-": "gpt-4o" is "gpt-4o-2024-08-06" too.
    yield ModelInfo("gpt-3.5-turbo", old, "gpt-4", "gpt-4o", 16_385, 4_096)
    yield ModelInfo("gpt-3.5-turbo-0301", old, "gpt-4", "gpt-4o", 4_096, 4_096)
    yield ModelInfo("gpt-3.5-turbo-0613", old, "gpt-4", "gpt-4o", 4_096, 4_096)
    yield ModelInfo("gpt-3.5-turbo-instruct", old, "gpt-4", "gpt-4o", 4_096, 4_096)
    yield ModelInfo("gpt-3.5", old, "gpt-4", "gpt-4o", 16_385, 4_096)
    yield ModelInfo("gpt-35-turbo", old, "gpt-4", "gpt-4o", 16_385, 4_096)  # Azure's way to write it
    yield ModelInfo("gpt-4", old, "gpt-4", "gpt-4o", 8_192, 8_192)
    yield ModelInfo("gpt-4-32k", old, "gpt-4", "gpt-4o", 32_768, 32_768)
    yield ModelInfo("gpt-4-turbo", old, "gpt-4", "gpt-4o", 128_000, 4_096)
    yield ModelInfo("gpt-4-1106", old, "gpt-4", "gpt-4o", 128_000, 4_096)
    yield ModelInfo("gpt-4-0125", old, "gpt-4", "gpt-4o", 128_000, 4_096)
    yield ModelInfo("gpt-4-vision-preview", old, "gpt-4", "gpt-4o", 128_000, 4_096)
    yield ModelInfo("gpt-4o", new, "gpt-4o", "gpt-4o", 128_000, 16_384)
    yield ModelInfo("gpt-4o-2024-05-13", new, "gpt-4o", "gpt-4o", 128_000, 4_096)
    yield ModelInfo("gpt-4o-mini", new, "gpt-4o", "gpt-4o-mini", 128_000, 16_384)
    yield ModelInfo("chatgpt-4o", new, "gpt-4o", "gpt-4o", 128_000, 16_384)
    yield ModelInfo("gpt-4.1", new, "gpt-4o", "gpt-4o", 1_047_576, 32_768)
    yield ModelInfo("gpt-4.1-mini", new, "gpt-4o", "gpt-4.1-mini", 1_047_576, 32_768)
    yield ModelInfo("gpt-4.1-nano", new, "gpt-4o", "gpt-4.1-nano", 1_047_576, 32_768)
    yield ModelInfo("gpt-4.5", new, "gpt-4o", "gpt-4o", 128_000, 16_384)
    yield ModelInfo("o1", new, "gpt-4o", "o1", 200_000, 100_000)
    yield ModelInfo("o1-mini", new, "gpt-4o", "o1", 128_000, 65_536)
    yield ModelInfo("o1-preview", new, "gpt-4o", "o1", 128_000, 32_768)
    yield ModelInfo("o3", new, "gpt-4o", "o1", 200_000, 100_000)
    yield ModelInfo("o4-mini", new, "gpt-4o", "o4-mini", 200_000, 100_000)
    yield ModelInfo("gpt-5", new, "gpt-4o", "gpt-5", 400_000, 128_000, 272_000)
    yield ModelInfo("gpt-5-chat", new, "gpt-4o", "gpt-5", 128_000, 16_384)
    yield ModelInfo("gpt-5-codex-mini", new, "gpt-4o", "gpt-5-mini", 400_000, 128_000, 272_000)
    yield ModelInfo("gpt-5-mini", new, "gpt-4o", "gpt-5-mini", 400_000, 128_000, 272_000)
    yield ModelInfo("gpt-5-nano", new, "gpt-4o", "gpt-5-nano", 400_000, 128_000, 272_000)
    yield ModelInfo("gpt-5-pro", new, "gpt-4o", "gpt-5", 400_000, 272_000, 272_000)
    for minor in ("gpt-5.1", "gpt-5.2", "gpt-5.3"):
        images = "gpt-5" if minor == "gpt-5.1" else "gpt-5.2"
        yield ModelInfo(minor, new, "gpt-4o", images, 400_000, 128_000, 272_000)
        yield ModelInfo(f"{minor}-chat", new, "gpt-4o", images, 128_000, 16_384)
    yield ModelInfo("gpt-5.1-mini", new, "gpt-4o", "gpt-5-mini", 400_000, 128_000, 272_000)
    yield ModelInfo("gpt-5.1-codex-mini", new, "gpt-4o", "gpt-5-mini", 400_000, 128_000, 272_000)
    yield ModelInfo("gpt-5.4", new, "gpt-4o", "gpt-5.4", 1_050_000, 128_000)
    yield ModelInfo("gpt-5.4-mini", new, "gpt-4o", "gpt-5-mini", 400_000, 128_000)
    yield ModelInfo("gpt-5.4-nano", new, "gpt-4o", "gpt-5-nano", 400_000, 128_000)
    yield ModelInfo("gpt-5.5", new, "gpt-4o", "gpt-5.5", 1_050_000, 128_000)
    yield ModelInfo("gpt-5.6", new, "gpt-4o", "gpt-5.6", 1_050_000, 128_000)
    yield ModelInfo("gpt-5.", new, "gpt-4o", "gpt-5.6")  # later ones: tiktoken maps all of "gpt-5"
    # OpenAI has published no encoding for these: o200k_base's counts, as an estimate.
    yield ModelInfo("gpt-6", "o200k_estimate", "gpt-4o", "gpt-5.6")
    yield ModelInfo("gpt-6.", "o200k_estimate", "gpt-4o", "gpt-5.6")
    yield ModelInfo("gpt-oss", "o200k_harmony", "gpt-4o", "gpt-4o", 131_072, 131_072)

    # --- OpenAI, embeddings: the window is what one input may hold.
    for name in ("text-embedding-ada-002", "text-embedding-3-small", "text-embedding-3-large"):
        yield ModelInfo(name, old, "gpt-4", "gpt-4o", 8_192)

    # --- OpenAI, completions and what is gone, so that old dumps can be counted.
    for name in ("davinci-002", "babbage-002"):
        yield ModelInfo(name, old, "gpt-4", "gpt-4o", 16_384, 16_384)
    for name in (
        *("text-davinci-003", "text-davinci-002", "code-davinci-002", "code-davinci-001"),
        *("code-cushman-002", "code-cushman-001", "davinci-codex", "cushman-codex"),
    ):
        yield ModelInfo(name, "p50k_base", "gpt-4", "gpt-4o")
    for name in ("text-davinci-edit-001", "code-davinci-edit-001"):
        yield ModelInfo(name, "p50k_edit", "gpt-4", "gpt-4o")
    for name in (
        *("text-davinci-001", "text-curie-001", "text-babbage-001", "text-ada-001"),
        *("davinci", "curie", "babbage", "ada"),
        *("text-similarity-davinci-001", "text-similarity-curie-001"),
        *("text-similarity-babbage-001", "text-similarity-ada-001"),
        *("text-search-davinci-doc-001", "text-search-curie-doc-001"),
        *("text-search-babbage-doc-001", "text-search-ada-doc-001"),
        *("code-search-babbage-code-001", "code-search-ada-code-001"),
    ):
        yield ModelInfo(name, "r50k_base", "gpt-4", "gpt-4o")
    for name in ("gpt2", "gpt-2"):
        yield ModelInfo(name, "gpt2", "gpt-4", "gpt-4o", 1_024)

    # --- Models without a public tokenizer. Windows: the least that all models of the name have.
    # Claude: the tokenizer changed with Opus 4.7, and pictures may be larger since.
    yield ModelInfo("claude", "claude_estimate", "claude", "claude", 1_000_000)
    for name in ("claude-3", "claude-haiku-4", "claude-opus-4", "claude-sonnet-4"):
        yield ModelInfo(name, "claude_4_estimate", "claude-4", "claude-4", 200_000)
    for name in ("claude-opus-4-7", "claude-opus-4-8"):
        yield ModelInfo(name, "claude_estimate", "claude", "claude", 1_000_000)
    for name in ("claude-2", "claude-2.0", "claude-2.1", "claude-instant"):
        yield ModelInfo(name, "claude_4_estimate", "claude-4", "claude-4", 100_000, 4_096)
    yield ModelInfo("gemini", "gemini_estimate", "gpt-4o", "gemini", 1_048_576)
    yield ModelInfo("gemini-1.0", "gemini_estimate", "gpt-4o", "gemini", 30_720, 2_048)
    yield ModelInfo("gemini-pro", "gemini_estimate", "gpt-4o", "gemini", 30_720, 2_048)


#: Key -> what is known.
MODELS: dict[str, ModelInfo] = {info.key: info for info in _table()}

#: What routers write before a model's name.
_ROUTES = ("anthropic/", "azure/", "gemini/", "google/", "models/", "openai/", "vertex_ai/")


def find_model(name: str) -> ModelInfo | None:
    """The entry for model ``name``, ``None`` if there is none.

    The longest key wins that is the whole name or stands in it before ``-``, ``:`` or ``@`` (a key that ends in ``.``:
    before anything). ``ft:`` (fine-tuned) and a router's ``openai/`` in front are left out of account.
    """
    for route in _ROUTES:
        name = name.removeprefix(route)
    name = name.removeprefix("ft:")
    for end in range(len(name), 0, -1):
        if end == len(name) or name[end] in "-:@" or name[end - 1] == ".":
            found = MODELS.get(name[:end])
            if found is not None and (end < len(name) or name[-1] != "."):
                return found
    return None


def model_info(name: str) -> ModelInfo:
    """The entry for model ``name``; :class:`TokenizerError` with the nearest names if there is none."""
    given: object = name
    if not isinstance(given, str):
        raise TokenizerError(f"a model is named by a str, got {given!r:.80} ({type(given).__name__})")
    found = find_model(name)
    if found is None:
        near = _near(name, MODELS)
        raise TokenizerError(
            f"the model {name!r} is not in the table{near}; for a model of your own pass a tokenizer and a limit"
        )
    return found


def info_for_encoding(encoding: str) -> ModelInfo:
    """The model whose costs of tools and images stand for an encoding, where no model is named.

    cl100k_base and older: gpt-4; an estimate: the models it is for; all others: gpt-4o.
    """
    if encoding in ("cl100k_base", "p50k_base", "p50k_edit", "r50k_base", "gpt2"):
        return MODELS["gpt-4"]
    families = {
        "claude_estimate": "claude",
        "claude_4_estimate": "claude-opus-4",
        "gemini_estimate": "gemini",
    }
    return MODELS[families.get(encoding, "gpt-4o")]


def unknown_name(name: str) -> TokenizerError:
    """The error for a name that is neither a tokenizer's nor a model's."""
    from priompt_py.tokens.tokenizer import list_tokenizers

    near = _near(name, [*list_tokenizers(), *MODELS])
    return TokenizerError(f"no tokenizer and no model is named {name!r}{near}")


def _near(name: str, names: Iterable[str]) -> str:
    import difflib  # 4 ms, for errors only

    known = dict.fromkeys(known for known in names if not known.endswith("."))
    near = difflib.get_close_matches(name.lower(), known, n=4, cutoff=0.5)
    return f" (near: {', '.join(near)})" if near else ""
