"""What could go into a prompt: chats, attachments and knowledge, before the renderer decides what does.

``messages``, ``reports`` and ``protocols`` are the data that everything here speaks in. Names are imported from here;
each module is loaded when one of its names is asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from priompt_py.context.assembly import Assembly, aassemble, assemble
    from priompt_py.context.attachments import (
        AttachmentOptions,
        Forms,
        append_attachments,
        attachment_ladder,
        forms_of,
        ladder,
        shown_attachments,
    )
    from priompt_py.context.chunking import Chunk, chunk
    from priompt_py.context.citations import (
        citation_ladder,
        cited,
        hit_ladder,
    )
    from priompt_py.context.compaction import (
        CompactionResult,
        Compactor,
    )
    from priompt_py.context.conversation import (
        Conversation,
        copy_conversation,
    )
    from priompt_py.context.counting import (
        chat_tokens,
        message_tokens,
    )
    from priompt_py.context.documents.limits import (
        DocumentLimits,
    )
    from priompt_py.context.documents.parser import (
        Document,
        DocumentParser,
    )
    from priompt_py.context.embedders.client import (
        ClientEmbedder,
    )
    from priompt_py.context.embedders.endpoint import (
        EndpointEmbedder,
    )
    from priompt_py.context.embedders.offline import (
        WordLlamaEmbedder,
    )
    from priompt_py.context.embedders.vectors import (
        checked_vectors,
        embed_texts,
    )
    from priompt_py.context.file_tools import (
        FileTools,
    )
    from priompt_py.context.folder import (
        FolderLoader,
    )
    from priompt_py.context.histories import from_anthropic, from_openai
    from priompt_py.context.knowledge.base import (
        KnowledgeBase,
    )
    from priompt_py.context.knowledge.ingest import (
        Added,
        AddProgress,
        AddReport,
    )
    from priompt_py.context.knowledge.store import (
        DocumentInfo,
        StoredChunk,
    )
    from priompt_py.context.knowledge.tools import (
        KnowledgeTools,
    )
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
    from priompt_py.context.ordering import by_time
    from priompt_py.context.overflow import (
        compaction_threshold,
        needs_compaction,
    )
    from priompt_py.context.passes.dedupe import (
        dedupe,
    )
    from priompt_py.context.passes.eligible import (
        apply_compaction,
        drop_errors,
        drop_ineligible,
    )
    from priompt_py.context.passes.expire import (
        expire,
    )
    from priompt_py.context.passes.limit import (
        limit_messages,
    )
    from priompt_py.context.passes.pairs import (
        repair_tool_pairs,
    )
    from priompt_py.context.passes.prune import (
        PruneResult,
        prune,
    )
    from priompt_py.context.passes.restore import (
        restore,
    )
    from priompt_py.context.passes.tools import (
        clean_tools,
        flatten_tools,
    )
    from priompt_py.context.passes.units import (
        Pass,
    )
    from priompt_py.context.pipelines import (
        Pipeline,
        default_pipeline,
        pipeline,
    )
    from priompt_py.context.preprocessing import (
        Preprocessed,
        apreprocess,
        preprocess,
    )
    from priompt_py.context.protocols import (
        CitationSink,
        Embedder,
        EventSink,
        Loader,
        Parser,
        Reranker,
        Retriever,
        Summarizer,
    )
    from priompt_py.context.reading import (
        Content,
    )
    from priompt_py.context.reports import (
        ContextReport,
        Drop,
        Event,
        Found,
        PassReport,
        PassResult,
        Restored,
        SearchReport,
        Strategy,
    )
    from priompt_py.context.reranking import (
        arerank,
        rerank,
    )
    from priompt_py.context.retrieval import BM25Retriever
    from priompt_py.context.session_files import (
        SessionFiles,
        session_mode,
    )
    from priompt_py.context.shortening import shorten
    from priompt_py.context.strategy import (
        available_tokens,
        choose_strategy,
    )
    from priompt_py.context.terms import (
        definitions,
    )
    from priompt_py.context.vector_retrieval import VectorRetriever
    from priompt_py.context.wording import (
        WORDING,
        Wording,
    )

__all__ = [
    "WORDING",
    "AddProgress",
    "AddReport",
    "Added",
    "Assembly",
    "Attachment",
    "AttachmentOptions",
    "BM25Retriever",
    "Chunk",
    "CitationSink",
    "ClientEmbedder",
    "CompactionPoint",
    "CompactionResult",
    "Compactor",
    "Content",
    "ContextReport",
    "Conversation",
    "Document",
    "DocumentInfo",
    "DocumentLimits",
    "DocumentParser",
    "Drop",
    "Embedder",
    "EndpointEmbedder",
    "Event",
    "EventSink",
    "FileTools",
    "FolderLoader",
    "Forms",
    "Found",
    "Hit",
    "ImagePart",
    "InfoPart",
    "KnowledgeBase",
    "KnowledgeTools",
    "Loader",
    "Message",
    "OpaquePart",
    "Parser",
    "Part",
    "Pass",
    "PassReport",
    "PassResult",
    "Pipeline",
    "Preprocessed",
    "PruneResult",
    "ReasoningPart",
    "Reranker",
    "Restored",
    "Retriever",
    "SearchReport",
    "SessionFiles",
    "StoredChunk",
    "Strategy",
    "Summarizer",
    "TextPart",
    "ToolCallPart",
    "ToolResultPart",
    "VectorRetriever",
    "WordLlamaEmbedder",
    "Wording",
    "aassemble",
    "append_attachments",
    "apply_compaction",
    "apreprocess",
    "arerank",
    "assemble",
    "attachment_ladder",
    "available_tokens",
    "by_time",
    "chat_tokens",
    "checked_vectors",
    "choose_strategy",
    "chunk",
    "citation_ladder",
    "cited",
    "clean_tools",
    "compaction_threshold",
    "copy_conversation",
    "dedupe",
    "default_pipeline",
    "definitions",
    "drop_errors",
    "drop_ineligible",
    "embed_texts",
    "expire",
    "flatten_tools",
    "forms_of",
    "from_anthropic",
    "from_openai",
    "hit_ladder",
    "ladder",
    "limit_messages",
    "message_tokens",
    "needs_compaction",
    "pipeline",
    "preprocess",
    "prune",
    "repair_tool_pairs",
    "rerank",
    "restore",
    "session_mode",
    "shorten",
    "shown_attachments",
]

_WHERE = {
    "assembly": ("Assembly", "aassemble", "assemble"),
    "attachments": (
        "AttachmentOptions",
        "Forms",
        "append_attachments",
        "attachment_ladder",
        "forms_of",
        "ladder",
        "shown_attachments",
    ),
    "chunking": (
        "Chunk",
        "chunk",
    ),
    "citations": (
        "citation_ladder",
        "cited",
        "hit_ladder",
    ),
    "compaction": (
        "CompactionResult",
        "Compactor",
    ),
    "conversation": (
        "Conversation",
        "copy_conversation",
    ),
    "counting": (
        "chat_tokens",
        "message_tokens",
    ),
    "documents.limits": ("DocumentLimits",),
    "documents.parser": (
        "Document",
        "DocumentParser",
    ),
    "embedders.client": ("ClientEmbedder",),
    "embedders.endpoint": ("EndpointEmbedder",),
    "embedders.offline": ("WordLlamaEmbedder",),
    "embedders.vectors": (
        "checked_vectors",
        "embed_texts",
    ),
    "file_tools": ("FileTools",),
    "folder": ("FolderLoader",),
    "histories": ("from_anthropic", "from_openai"),
    "knowledge.base": ("KnowledgeBase",),
    "knowledge.ingest": (
        "AddProgress",
        "AddReport",
        "Added",
    ),
    "knowledge.store": (
        "DocumentInfo",
        "StoredChunk",
    ),
    "knowledge.tools": ("KnowledgeTools",),
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
    "ordering": ("by_time",),
    "overflow": (
        "compaction_threshold",
        "needs_compaction",
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
    "preprocessing": (
        "Preprocessed",
        "apreprocess",
        "preprocess",
    ),
    "protocols": (
        "CitationSink",
        "Embedder",
        "EventSink",
        "Loader",
        "Parser",
        "Reranker",
        "Retriever",
        "Summarizer",
    ),
    "reading": ("Content",),
    "reports": (
        "ContextReport",
        "Drop",
        "Event",
        "Found",
        "PassReport",
        "PassResult",
        "Restored",
        "SearchReport",
        "Strategy",
    ),
    "reranking": (
        "arerank",
        "rerank",
    ),
    "retrieval": ("BM25Retriever",),
    "session_files": (
        "SessionFiles",
        "session_mode",
    ),
    "shortening": ("shorten",),
    "strategy": (
        "available_tokens",
        "choose_strategy",
    ),
    "terms": ("definitions",),
    "vector_retrieval": ("VectorRetriever",),
    "wording": (
        "WORDING",
        "Wording",
    ),
}
_MODULES = {name: module for module, names in _WHERE.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
