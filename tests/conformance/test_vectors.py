"""The 400 vectors of the original: every level's count, every prompt, every figure, exactly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from priompt_py import Node, PromptTooLong, Rendered, from_json, render
from priompt_py.testing.oracle import levels_of, tree_of, whole_count

VECTORS: list[dict[str, Any]] = [
    json.loads(line) for line in (Path(__file__).parent / "vectors.jsonl").read_text("utf-8").splitlines()
]

every_vector = pytest.mark.parametrize("vector", VECTORS, ids=[vector["id"] for vector in VECTORS])


def rendered(vector: dict[str, Any], *, fewer: int = 0, **how: Any) -> Rendered:
    tree: Node = from_json(vector["tree"])
    return render(tree, token_limit=vector["token_limit"] - fewer, tokenizer=vector["tokenizer"], **how)


def test_there_are_as_many_as_there_should_be() -> None:
    assert len(VECTORS) == 400
    assert sum(vector["cutoff"] is None for vector in VECTORS) == 33
    steady = [sorted(vector["counts"], reverse=True) == vector["counts"] for vector in VECTORS]
    assert 100 < steady.count(False) < 200


@every_vector
def test_levels_and_counts_of_the_definition(vector: dict[str, Any]) -> None:
    tree = tree_of(
        from_json(vector["tree"]), token_limit=vector["token_limit"], tokenizer=vector["tokenizer"]
    )
    levels = levels_of(tree.root)
    assert levels == vector["levels"]
    assert [whole_count(tree, level) for level in levels] == vector["counts"]


@every_vector
def test_prompt(vector: dict[str, Any]) -> None:
    if vector["cutoff"] is None:
        with pytest.raises(PromptTooLong) as caught:
            rendered(vector)
        assert caught.value.token_limit == vector["token_limit"]
        assert caught.value.required_limit == min(vector["counts"])
        assert caught.value.token_count + caught.value.tokens_reserved == min(vector["counts"])
        return
    found, expected = rendered(vector), vector["expected"]
    assert found.cutoff == vector["cutoff"]
    assert found.token_count == expected["token_count"]
    assert found.tokens_reserved == expected["tokens_reserved"]
    assert found.tokens_remaining == vector["token_limit"] - expected["token_count"]
    assert found.text == expected.get("text")
    messages = found.messages and [{"role": each.role, "content": each.text} for each in found.messages]
    assert messages == expected.get("messages")
    assert found.config.stop == expected["config"]["stop"]
    assert found.config.max_response_tokens == expected["config"]["max_response_tokens"]


CHATS = [vector for vector in VECTORS if "token_count_last_incomplete" in vector.get("expected", {})]


@pytest.mark.parametrize("vector", CHATS, ids=[vector["id"] for vector in CHATS])
def test_chat_whose_last_message_is_incomplete(vector: dict[str, Any]) -> None:
    # Every level costs 4 fewer then, so under a limit 4 lower the prompt is the same.
    found = rendered(vector, fewer=4, last_message_incomplete=True)
    assert found.cutoff == vector["cutoff"]
    assert found.token_count == vector["expected"]["token_count_last_incomplete"]
    assert found.messages == rendered(vector).messages


@pytest.mark.parametrize("limit", [0, 50, 200, 1_000])
def test_every_vector_under_other_limits(limit: int) -> None:
    for vector in VECTORS:
        fitting = [
            (level, count)
            for level, count in zip(vector["levels"], vector["counts"], strict=True)
            if count <= limit
        ]
        try:
            found = render(from_json(vector["tree"]), token_limit=limit, tokenizer=vector["tokenizer"])
        except PromptTooLong:
            assert fitting == []
        else:
            assert (found.cutoff, found.token_count + found.tokens_reserved) == fitting[0]
