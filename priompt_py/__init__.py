"""Prompts as components: composed by priority, fitted to a token limit exactly."""

from typing import TYPE_CHECKING

from priompt_py.author.component import Component, component
from priompt_py.author.excerpts import excerpt
from priompt_py.author.json_form import from_json, from_json_text, to_json
from priompt_py.author.json_schema import json_schema
from priompt_py.author.messages import (
    assistant_message,
    developer_message,
    image,
    part,
    system_message,
    tool_message,
    user_message,
)
from priompt_py.author.tags import (
    at_most,
    br,
    cache_break,
    capture,
    config,
    empty,
    fallback,
    first,
    hr,
    isolate,
    scope,
    token_break,
)
from priompt_py.author.toolbox import tools
from priompt_py.author.tools import tool_definition
from priompt_py.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    DocumentError,
    EmbedderError,
    JsonFormError,
    KnowledgeBaseError,
    ModelError,
    ModelOutputError,
    PromptError,
    PromptTooLong,
    ProviderError,
    RunError,
    SourceError,
    StructureError,
    TemplateError,
    TemplateSyntaxError,
    TokenizerError,
)
from priompt_py.face.program import Program
from priompt_py.face.render import acompile_prompt, arender, compile_prompt, render
from priompt_py.face.rendered import Rendered
from priompt_py.face.report import Report
from priompt_py.model.curve import Curve, CurvePoint, LimitRange, Why
from priompt_py.model.elements import BASE_PRIORITY, Element, Node, turn
from priompt_py.model.memory import Memory
from priompt_py.model.model_output import ModelOutput, ToolCall, Usage
from priompt_py.model.outcome import Decision
from priompt_py.model.source_map import SourceMap, Span
from priompt_py.providers.openai import from_openai
from priompt_py.tokens.cache import TokenCache
from priompt_py.tokens.chat_format import ChatFormat
from priompt_py.tokens.limits import LimitChoice, limit_for
from priompt_py.tokens.tokenizer import Tokenizer, get_tokenizer, register_tokenizer

if TYPE_CHECKING:
    from priompt_py.face.difference import Difference, first_difference
    from priompt_py.model.delta import CallDelta, Delta
    from priompt_py.preview.registry import (
        RegisteredPrompt,
        find_prompt,
        prompt,
        register,
        registered_prompts,
    )
    from priompt_py.providers.answers import (
        output_from_anthropic,
        output_from_openai,
        output_from_openai_responses,
    )
    from priompt_py.providers.anthropic_history import from_anthropic
    from priompt_py.providers.responses_history import from_openai_responses
    from priompt_py.runtime.anthropic_model import AnthropicModel, anthropic_model
    from priompt_py.runtime.joiners import ajoin_stream, join_stream
    from priompt_py.runtime.live import Hub, Question, live
    from priompt_py.runtime.openai_model import OpenAIModel, openai_model
    from priompt_py.runtime.run import run, run_sync
    from priompt_py.runtime.stream import ModelStream
    from priompt_py.template.bounds import Bounds
    from priompt_py.template.environment import Environment, Template, load_template, parse_template
    from priompt_py.template.loader import DictLoader, FileLoader, PackageLoader
    from priompt_py.template.markup import markup

__all__ = [
    "BASE_PRIORITY",
    "AnthropicModel",
    "ArgumentTypeError",
    "ArgumentValueError",
    "Bounds",
    "CallDelta",
    "ChatFormat",
    "Component",
    "Curve",
    "CurvePoint",
    "Decision",
    "Delta",
    "DictLoader",
    "Difference",
    "DocumentError",
    "Element",
    "EmbedderError",
    "Environment",
    "FileLoader",
    "Hub",
    "JsonFormError",
    "KnowledgeBaseError",
    "LimitChoice",
    "LimitRange",
    "Memory",
    "ModelError",
    "ModelOutput",
    "ModelOutputError",
    "ModelStream",
    "Node",
    "OpenAIModel",
    "PackageLoader",
    "Program",
    "PromptError",
    "PromptTooLong",
    "ProviderError",
    "Question",
    "RegisteredPrompt",
    "Rendered",
    "Report",
    "RunError",
    "SourceError",
    "SourceMap",
    "Span",
    "StructureError",
    "Template",
    "TemplateError",
    "TemplateSyntaxError",
    "TokenCache",
    "Tokenizer",
    "TokenizerError",
    "ToolCall",
    "Usage",
    "Why",
    "acompile_prompt",
    "ajoin_stream",
    "anthropic_model",
    "arender",
    "assistant_message",
    "at_most",
    "br",
    "cache_break",
    "capture",
    "compile_prompt",
    "component",
    "config",
    "developer_message",
    "empty",
    "excerpt",
    "fallback",
    "find_prompt",
    "first",
    "first_difference",
    "from_anthropic",
    "from_json",
    "from_json_text",
    "from_openai",
    "from_openai_responses",
    "get_tokenizer",
    "hr",
    "image",
    "isolate",
    "join_stream",
    "json_schema",
    "limit_for",
    "live",
    "load_template",
    "markup",
    "openai_model",
    "output_from_anthropic",
    "output_from_openai",
    "output_from_openai_responses",
    "parse_template",
    "part",
    "prompt",
    "register",
    "register_tokenizer",
    "registered_prompts",
    "render",
    "run",
    "run_sync",
    "scope",
    "system_message",
    "to_json",
    "token_break",
    "tool_definition",
    "tool_message",
    "tools",
    "turn",
    "user_message",
]

_LATER = {
    "AnthropicModel": "runtime.anthropic_model",
    "Bounds": "template.bounds",
    "CallDelta": "model.delta",
    "Delta": "model.delta",
    "DictLoader": "template.loader",
    "Difference": "face.difference",
    "Environment": "template.environment",
    "FileLoader": "template.loader",
    "Hub": "runtime.live",
    "ModelStream": "runtime.stream",
    "OpenAIModel": "runtime.openai_model",
    "PackageLoader": "template.loader",
    "Question": "runtime.live",
    "RegisteredPrompt": "preview.registry",
    "Template": "template.environment",
    "ajoin_stream": "runtime.joiners",
    "anthropic_model": "runtime.anthropic_model",
    "find_prompt": "preview.registry",
    "first_difference": "face.difference",
    "from_anthropic": "providers.anthropic_history",
    "from_openai_responses": "providers.responses_history",
    "join_stream": "runtime.joiners",
    "live": "runtime.live",
    "load_template": "template.environment",
    "markup": "template.markup",
    "openai_model": "runtime.openai_model",
    "output_from_anthropic": "providers.answers",
    "output_from_openai": "providers.answers",
    "output_from_openai_responses": "providers.answers",
    "parse_template": "template.environment",
    "prompt": "preview.registry",
    "register": "preview.registry",
    "registered_prompts": "preview.registry",
    "run": "runtime.run",
    "run_sync": "runtime.run",
}
"""The modules of names that are imported when they are asked for: templates would double the time of the import."""


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("priompt-py")
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"priompt_py.{_LATER[name]}"), name)
