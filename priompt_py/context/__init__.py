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
    from priompt_py.context.passes.dedupe import dedupe
    from priompt_py.context.passes.eligible import apply_compaction, drop_errors, drop_ineligible
    from priompt_py.context.passes.expire import expire
    from priompt_py.context.passes.limit import limit_messages
    from priompt_py.context.passes.pairs import repair_tool_pairs
    from priompt_py.context.passes.prune import PruneResult, prune
    from priompt_py.context.passes.restore import restore
    from priompt_py.context.passes.tools import clean_tools, flatten_tools
    from priompt_py.context.passes.units import Pass
    from priompt_py.context.pipelines import Pipeline, default_pipeline, pipeline
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
    from priompt_py.context.terms import definitions

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
    "Pass",
    "PassReport",
    "PassResult",
    "Pipeline",
    "PruneResult",
    "ReasoningPart",
    "Reranker",
    "Restored",
    "Retriever",
    "Strategy",
    "Summarizer",
    "TextPart",
    "ToolCallPart",
    "ToolResultPart",
    "apply_compaction",
    "chat_tokens",
    "clean_tools",
    "dedupe",
    "default_pipeline",
    "definitions",
    "drop_errors",
    "drop_ineligible",
    "expire",
    "flatten_tools",
    "limit_messages",
    "message_tokens",
    "pipeline",
    "prune",
    "repair_tool_pairs",
    "restore",
]

_WHERE = {
    "counting": (
        "chat_tokens",
        "message_tokens",
    ),
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
    "passes.dedupe": ("dedupe",),
    "passes.eligible": (
        "apply_compaction",
        "drop_errors",
        "drop_ineligible",
    ),
    "passes.expire": ("expire",),
    "passes.limit": ("limit_messages",),
    "passes.pairs": ("repair_tool_pairs",),
    "passes.prune": (
        "PruneResult",
        "prune",
    ),
    "passes.restore": ("restore",),
    "passes.tools": (
        "clean_tools",
        "flatten_tools",
    ),
    "passes.units": ("Pass",),
    "pipelines": (
        "Pipeline",
        "default_pipeline",
        "pipeline",
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
    "terms": ("definitions",),
}
_MODULES = {name: module for module, names in _WHERE.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
