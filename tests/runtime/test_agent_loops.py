"""Whole agent loops: what a model thought goes back to it as it came, turn after turn, under one budget."""

from __future__ import annotations

from typing import Any

from priompt_py import (
    ModelOutput,
    Node,
    Rendered,
    assistant_message,
    config,
    output_from_anthropic,
    output_from_openai_responses,
    render,
    run_sync,
    tool_definition,
    tool_message,
    user_message,
)

TOOL = tool_definition(name="look", description="Looks.", parameters={"type": "object", "properties": {}})


def thought(number: int) -> dict[str, Any]:
    return {"type": "thinking", "thinking": f"thought {number}", "signature": f"s{number}"}


def reasoning(number: int) -> dict[str, Any]:
    return {"type": "reasoning", "id": f"rs_{number}", "summary": [], "encrypted_content": f"x{number}"}


def loop(answer: Any) -> list[Rendered]:
    """Three calls and an answer, each turn with what was said before; the renders that the model got."""
    said: list[Node] = [user_message["Go."]]
    seen: list[Rendered] = []

    def model(rendered: Rendered) -> ModelOutput:
        seen.append(rendered)
        found: ModelOutput = answer(len(seen))
        return found

    def prompt() -> Node:
        return [list(said), TOOL, config(max_response_tokens=50)]

    while True:
        output = run_sync(prompt, {}, model=model, token_limit=4_000)
        assert isinstance(output, ModelOutput)
        said.append(assistant_message(tool_calls=output.tool_calls)[output.content])
        if not output.tool_calls:
            return [*seen, render(list(said), token_limit=4_000)]
        said += [tool_message(tool_call_id=str(call.id))["seen"] for call in output.tool_calls]


def test_thinking_survives_an_agent_loop() -> None:
    def answer(number: int) -> ModelOutput:
        call: dict[str, Any] = {"type": "tool_use", "id": f"c{number}", "name": "look", "input": {}}
        last = call if number < 4 else {"type": "text", "text": "Done."}
        return output_from_anthropic(
            {"role": "assistant", "content": [thought(number), last], "stop_reason": "end_turn"}
        )

    renders = loop(answer)
    assert len(renders) == 5
    messages = renders[3].to_anthropic()["messages"]
    blocks: list[dict[str, Any]] = [
        block for message in messages for block in message["content"] if not isinstance(block, str)
    ]
    assert [block for block in blocks if block["type"] == "thinking"] == [thought(1), thought(2), thought(3)]
    assert [block["type"] for block in messages[1]["content"]] == ["thinking", "tool_use"]


def test_reasoning_items_survive_an_agent_loop() -> None:
    def answer(number: int) -> ModelOutput:
        call: dict[str, Any] = {
            "type": "function_call",
            "id": f"fc_{number}",
            "call_id": f"c{number}",
            "name": "look",
            "arguments": "{}",
        }
        text: dict[str, Any] = {"type": "output_text", "text": "Done.", "annotations": []}
        message: dict[str, Any] = {
            "type": "message",
            "id": "m",
            "role": "assistant",
            "status": "completed",
            "content": [text],
        }
        last = call if number < 4 else message
        return output_from_openai_responses({"status": "completed", "output": [reasoning(number), last]})

    items = loop(answer)[3].to_openai_responses()["input"]
    kinds = [item.get("type", "message") for item in items]
    assert kinds == ["message", *["reasoning", "function_call", "function_call_output"] * 3]
    assert [item for item in items if item.get("type") == "reasoning"] == [
        reasoning(1),
        reasoning(2),
        reasoning(3),
    ]
