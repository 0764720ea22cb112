"""What could go into a prompt: chats, attachments and knowledge, before the renderer decides what does.

``messages``, ``reports`` and ``protocols`` are the data that everything here speaks in. Names are imported from here;
each module is loaded when one of its names is asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from priompt_py.context.counting import chat_tokens, message_tokens
    from priompt_py.context.messages import (
        Attachment,
        CompactionPoint,
        Hit,
        ImagePart,
        InfoPart,
        Message,
        OpaquePart,
        Part,
        ReasoningPart,
        TextPart,
        ToolCallPart,
        ToolResultPart,
    )
    from priompt_py.context.protocols import (
        CitationSink,
        EventSink,
        Loader,
        Parser,
        Reranker,
        Retriever,
        Summarizer,
    )
    from priompt_py.context.reports import (
        ContextReport,
        Drop,
        Event,
        PassReport,
        PassResult,
        Restored,
        Strategy,
    )

__all__ = [
    "Attachment",
    "CitationSink",
    "CompactionPoint",
    "ContextReport",
    "Drop",
    "Event",
    "EventSink",
    "Hit",
    "ImagePart",
    "InfoPart",
    "Loader",
    "Message",
    "OpaquePart",
    "Parser",
    "Part",
    "PassReport",
    "PassResult",
    "ReasoningPart",
    "Reranker",
    "Restored",
    "Retriever",
    "Strategy",
    "Summarizer",
    "TextPart",
    "ToolCallPart",
    "ToolResultPart",
    "chat_tokens",
    "message_tokens",
]

_WHERE = {
    "counting": ("chat_tokens", "message_tokens"),
    "messages": (
        "Attachment",
        "CompactionPoint",
        "Hit",
        "ImagePart",
        "InfoPart",
        "Message",
        "OpaquePart",
        "Part",
        "ReasoningPart",
        "TextPart",
        "ToolCallPart",
        "ToolResultPart",
    ),
    "protocols": (
        "CitationSink",
        "EventSink",
        "Loader",
        "Parser",
        "Reranker",
        "Retriever",
        "Summarizer",
    ),
    "reports": (
        "ContextReport",
        "Drop",
        "Event",
        "PassReport",
        "PassResult",
        "Restored",
        "Strategy",
    ),
}
_MODULES = {name: module for module, names in _WHERE.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
