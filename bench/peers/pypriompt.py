"""PyPriompt, the port of the original to Python. Run in its own environment: ``-m bench.peers.pypriompt VOCABULARY``."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

from bench.peers.protocol import Answer, load_tiktoken, timed


def main(vocabulary: Path) -> None:
    """Serve rounds."""
    load_tiktoken(vocabulary)
    priompt: Any = importlib.import_module("priompt")  # only there in the peer's environment

    def build(data: Answer) -> Any:
        scope, first = priompt.Scope, priompt.First
        if data["kind"] == "lines":
            return scope(*[scope(text, p=i) for i, text in enumerate(data["lines"])])
        if data["kind"] == "chat":
            message = {"user": priompt.UserMessage, "assistant": priompt.AssistantMessage}
            return scope(
                *[scope(message[role](text), p=i) for i, (role, text) in enumerate(data["messages"])]
            )
        return scope(*[first(*[scope(text, p=p) for p, text in kids]) for kids in data["firsts"]])

    def render(tree: Any, data: Answer) -> tuple[int, Any, str]:
        given = priompt.render(tree, {"token_limit": data["limit"], "tokenizer": priompt.O200KTokenizer})
        return given["token_count"], given["priority_cutoff"], text_of(given["prompt"])

    timed(build, render)


def text_of(prompt: Any) -> str:
    """The contents of its prompt: a text, a list of texts, or a chat's messages."""
    if isinstance(prompt, str):
        return prompt
    if isinstance(prompt, list):
        return "".join(map(text_of, prompt))  # pyright: ignore[reportUnknownArgumentType]
    if "messages" in prompt:
        return "".join(text_of(message["content"]) for message in prompt["messages"])
    return text_of(prompt.get("content", prompt.get("text", "")))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
