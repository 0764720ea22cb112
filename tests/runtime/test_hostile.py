"""What a hostile model or server sends, and what careless people write: an error that names it, or the right answer."""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, cast

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from priompt_py import (
    CallDelta,
    Delta,
    ModelOutput,
    Node,
    Rendered,
    ToolCall,
    anthropic_model,
    capture,
    config,
    join_stream,
    openai_model,
    output_from_anthropic,
    output_from_openai,
    output_from_openai_responses,
    run_sync,
    tool_definition,
    tools,
    user_message,
)
from priompt_py.errors import ArgumentTypeError, ArgumentValueError, ModelOutputError, RunError
from priompt_py.runtime.joiners import AnyJoiner


def asked(model: Callable[..., Any], *prompt: Node) -> Any:
    return run_sync([user_message["Hello"], *prompt], model=model, token_limit=2_000)


# ------------------------------------------------------------------------------------------ arguments of calls


@dataclasses.dataclass
class Chain:
    next: Chain | None = None


class Tree(pydantic.BaseModel):
    size: int = pydantic.Field(ge=1)
    kids: list[Tree] = []


def chained(x: Chain) -> Chain:
    return x


def planted(trees: list[Tree]) -> list[Tree]:
    return trees


def measured(x: float) -> float:
    return x


def calling(name: str, arguments: str) -> Callable[..., Any]:
    def model(rendered: Rendered) -> ModelOutput:
        return ModelOutput(tool_calls=(ToolCall("c1", name, arguments),))

    return model


DEEP = '{"x": ' + '{"next": ' * 600 + "null" + "}" * 601

NODE: dict[str, Any] = {
    "anyOf": [{"type": "object", "additionalProperties": {"$ref": "#/$defs/node"}}, {"type": "null"}]
}
NESTED: dict[str, Any] = {
    "type": "object",
    "properties": {"x": {"$ref": "#/$defs/node"}},
    "$defs": {"node": NODE},
}


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        (
            tools[chained],
            DEEP,
            "the arguments of the call 'chained' (id 'c1') don't fit: they are nested too deep",
        ),
        (
            tools[measured],
            '{"x": 1e999}',
            "the arguments of the call 'measured' (id 'c1') are no JSON (it holds a number too large): '{\"x\": 1e999}'",
        ),
        (
            tools[planted],
            '{"trees": [{"size": 1, "kids": [{"size": 0}, {}]}]}',
            (
                "the arguments of the call 'planted' (id 'c1') don't fit: arguments.trees[0].kids[0].size: Input should "
                "be greater than or equal to 1; arguments.trees[0].kids[1].size: Field required"
            ),
        ),
    ],
)
def test_arguments_that_a_tool_cant_take(tool: Node, arguments: str, message: str) -> None:
    name = message.split("'")[1]
    with pytest.raises(ModelOutputError) as caught:
        asked(calling(name, arguments), tool)
    assert str(caught.value) == message


def test_a_deep_schema_is_told_to_on_parse_error() -> None:
    told: list[str] = []
    made = tools(on_call=print, on_parse_error=lambda error: told.append(str(error)))[
        tool_definition(NESTED, name="deep")
    ]
    asked(calling("deep", DEEP), made)
    assert told == ["the arguments of the call 'deep' (id 'c1') don't fit: they are nested too deep"]


# ------------------------------------------------------------------------------------------ handlers


def counted(n: int) -> Iterator[int]:
    yield n


def listens(deltas: AsyncIterator[Delta]) -> Iterator[object]:
    yield deltas


def reads(output: ModelOutput) -> Iterator[str]:
    yield output.text


@pytest.mark.parametrize(
    ("handler", "name"),
    [
        (tools[counted], "on_call of tool 'counted' (id 'c1')"),
        (capture(on_stream=listens), "on_stream of capture 1"),
        (capture(on_output=reads), "on_output of capture 1"),
    ],
)
def test_a_generator_is_no_handler(handler: Node, name: str) -> None:
    with pytest.raises(RunError) as caught:
        asked(calling("counted", '{"n": 1}'), handler)
    assert str(caught.value) == f"{name} is a generator, which nobody reads: leave out its `yield`"


@pytest.mark.parametrize(
    ("output", "wanted"),
    [
        (ModelOutput(cast("Any", 5)), "text has to be text, got 5 (int)"),
        (ModelOutput(tool_calls=cast("Any", ["x"])), "tool_calls[0] has to be a ToolCall, got 'x' (str)"),
        (
            ModelOutput(tool_calls=(ToolCall("i", "f", cast("Any", {"a": 1})),)),
            "tool_calls[0].arguments has to be text, got {'a': 1} (dict)",
        ),
        (
            ModelOutput(tool_calls=(ToolCall("i", cast("Any", None), ""),)),
            "tool_calls[0].name has to be text, got None (NoneType)",
        ),
    ],
)
def test_an_output_of_wrong_types(output: ModelOutput, wanted: str) -> None:
    def model(rendered: Rendered) -> ModelOutput:
        return output

    with pytest.raises(RunError) as caught:
        asked(model)
    assert str(caught.value) == f"the model gave a ModelOutput whose {wanted}"


# ------------------------------------------------------------------------------------------ halves of characters


def chat(**delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}


def event(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "index": 0, "output_index": 0, "content_index": 0, "item_id": "m", **fields}


HALVES = ["a\ud83d", "\ude00b"]

CUT = {
    "texts": list[Any](HALVES),
    "chat": [chat(content=half) for half in HALVES],
    "anthropic": [
        event("content_block_delta", delta={"type": "text_delta", "text": half}) for half in HALVES
    ],
    "responses": [event("response.output_text.delta", delta=half) for half in HALVES],
}


@pytest.mark.parametrize("kind", CUT)
def test_a_character_in_two_pieces_is_one(kind: str) -> None:
    joiner = AnyJoiner()
    deltas = [str(delta) for chunk in CUT[kind] for delta in joiner.add(chunk)]
    assert [text for text in deltas if text] == ["a", "\N{GRINNING FACE}b"]
    assert joiner.output().content == ("a\N{GRINNING FACE}b",)


def test_halves_in_arguments_and_thoughts() -> None:
    joiner = AnyJoiner()
    pieces = [
        Delta(reasoning="\ud83d", call=CallDelta(0, "i", "f", '{"a": "\ud83d')),
        Delta(refusal="\ud83d", call=CallDelta(1, "j", "g", "\ud83d")),
        Delta(reasoning="\ude00", call=CallDelta(0, "i", "f", '\ude00"}')),
        Delta(refusal="\ud83d"),
    ]
    deltas = [delta for piece in pieces for delta in joiner.add(piece)]
    assert deltas == [
        Delta(call=CallDelta(0, "i", "f", '{"a": "')),
        Delta(call=CallDelta(1, "j", "g")),
        Delta(reasoning="\N{GRINNING FACE}", call=CallDelta(0, "i", "f", '\N{GRINNING FACE}"}')),
        Delta(refusal="\ud83d"),  # a lone half is as it came, once it is known to be one
    ]
    found = joiner.output()
    assert (found.reasoning, found.refusal) == ("\N{GRINNING FACE}", "\ud83d\ud83d")
    assert found.tool_calls[0].parsed == {"a": "\N{GRINNING FACE}"}


@given(st.text(), st.data())
def test_any_cut_between_units_gives_the_text(text: str, data: st.DataObject) -> None:
    units = text.encode("utf-16-le")
    cuts = sorted(data.draw(st.lists(st.integers(0, len(units) // 2), max_size=4)))
    bounds = [0, *cuts, len(units) // 2]
    pieces = [
        units[2 * a : 2 * b].decode("utf-16-le", "surrogatepass") for a, b in itertools.pairwise(bounds)
    ]
    joiner = AnyJoiner()
    said = "".join(str(delta) for piece in pieces for delta in joiner.add(chat(content=piece)))
    assert (said, joiner.output().text) == (text, text)


# ------------------------------------------------------------------------------------------ odd events


def test_chunks_without_anything() -> None:
    assert join_stream([chat(content="a"), {"id": "x"}, {}, chat(content="b")]).text == "ab"


def test_a_sign_of_life_before_the_first_event() -> None:
    text = event("response.output_text.delta", delta="a")
    assert join_stream([{"type": "keepalive"}, text, {"type": "keepalive"}]).text == "a"


def test_one_id_for_two_calls() -> None:
    def call(index: int, name: str, arguments: str) -> dict[str, Any]:
        return chat(
            tool_calls=[{"index": index, "id": "i", "function": {"name": name, "arguments": arguments}}]
        )

    found = join_stream([call(0, "f", '{"a": 1}'), call(1, "g", '{"b"'), call(1, "", ": 2}")])
    assert [(c.name, c.arguments) for c in found.tool_calls] == [("f", '{"a": 1}'), ("g", '{"b": 2}')]


def test_custom_tools_in_a_stream() -> None:
    piece = {"index": 0, "id": "i", "type": "custom", "custom": {"name": "sql", "input": "SELECT"}}
    with pytest.raises(ModelOutputError) as caught:
        join_stream([chat(tool_calls=[piece])])
    assert str(caught.value) == "calls of custom tools can't be held: only those of functions"


ODD: dict[str, list[dict[str, Any]]] = {
    "anthropic": [
        {"type": "message_start", "message": {"content": ["x"], "usage": "y"}},
        {"type": "message_start", "message": None},
        {"type": "content_block_start", "index": "a", "content_block": "zz"},
        {"type": "content_block_start", "index": 0, "content_block": {}},
        {"type": "content_block_delta", "index": {}, "delta": []},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": {"a": 1}}},
        {"type": "message_delta", "delta": "x", "usage": [1]},
    ],
    "responses": [
        {"type": "response.created", "response": "x"},
        {"type": "response.output_item.added", "output_index": {}, "item": "zz"},
        {"type": "response.output_item.added", "output_index": 0, "item": {}},
        {"type": "response.output_text.delta", "output_index": [], "content_index": {}, "delta": {}},
        {"type": "response.output_item.done", "output_index": 0, "item": []},
        {"type": "response.completed", "response": {"output": ["x"], "usage": "y", "status": 3}},
    ],
}


@pytest.mark.parametrize("kind", ODD)
def test_events_of_wrong_shapes_add_nothing(kind: str) -> None:
    for number in range(len(ODD[kind])):
        found = join_stream(ODD[kind][: number + 1])
        assert (
            found.text,
            found.tool_calls,
            [part for part in found.content if not dict(cast("Any", part).data).get("type")],
        ) == ("", (), [])


@pytest.mark.parametrize("kind", ["anthropic", "responses"])
def test_the_answer_comes_in_spite_of_them(kind: str) -> None:
    assert join_stream([*ODD[kind][:4], *CUT[kind]]).text == "a\N{GRINNING FACE}b"


# ------------------------------------------------------------------------------------------ whole answers


@pytest.mark.parametrize("read", [output_from_openai, output_from_openai_responses, output_from_anthropic])
@pytest.mark.parametrize("error", [{"message": "no credit", "code": 402}, "no credit"])
def test_a_failure_with_the_status_of_a_success(read: Callable[[Any], ModelOutput], error: object) -> None:
    with pytest.raises(ModelOutputError) as caught:
        read({"error": error})
    assert str(caught.value) == "the provider reports a failure: no credit"


def test_figures_that_are_none() -> None:
    usage = {"prompt_tokens": "5", "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": None}}
    found = join_stream([chat(content="a"), {"choices": [], "usage": usage}]).usage
    assert found is not None
    assert (found.input_tokens, found.output_tokens, found.cached_tokens) == (None, 2, None)


# ------------------------------------------------------------------------------------------ max_tokens


class Client:
    """Keeps what it is asked."""

    def __init__(self) -> None:
        self.request: dict[str, Any] = {}
        self.messages = self.chat = self.completions = self.responses = self

    def create(self, **request: Any) -> dict[str, Any]:
        self.request = request
        content: list[Any] = []
        return {"content": content, "output": content, "choices": [{"message": {"content": ""}}]}


class Asked:
    """A model that notes which limit its prompt had."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.name, self.max_tokens = model.name, model.max_tokens
        self.limit_from = ""

    def __call__(self, rendered: Rendered) -> Any:
        self.limit_from = rendered.limit_from
        return self.model(rendered)


def limit_of(model: Any, *prompt: Node) -> str:
    noted = Asked(model)
    run_sync([user_message["Hello"], *prompt], model=noted, window=1_000)
    return noted.limit_from


def test_anthropics_max_tokens_for_a_prompt_that_gives_none() -> None:
    client = Client()
    model = anthropic_model(client, model="claude-sonnet-4-5", max_tokens=300)
    assert limit_of(model) == "window (1000) - answer (300)"
    assert client.request["max_tokens"] == 300
    assert limit_of(model, config(max_response_tokens=50)) == "window (1000) - answer (50)"
    assert client.request["max_tokens"] == 50


@pytest.mark.parametrize(
    ("api", "name"),
    [("chat", "max_completion_tokens"), ("chat", "max_tokens"), ("responses", "max_output_tokens")],
)
def test_openais_answer_is_left_room_too(api: Any, name: str) -> None:
    client = Client()
    options: dict[str, Any] = {name: 300}
    assert (
        limit_of(openai_model(client, model="gpt-4o", api=api, **options)) == "window (1000) - answer (300)"
    )
    assert client.request[name] == 300
    assert openai_model(client, model="gpt-4o", temperature=0).max_tokens is None


def test_max_tokens_that_are_none() -> None:
    with pytest.raises(ArgumentTypeError) as wrong:
        anthropic_model(Client(), model="m", max_tokens=cast("Any", "5"))
    assert (
        str(wrong.value) == "anthropic_model() needs a whole number for max_tokens, got max_tokens='5' (str)"
    )
    with pytest.raises(ArgumentValueError) as low:
        anthropic_model(Client(), model="m", max_tokens=0)
    assert str(low.value) == "anthropic_model() needs max_tokens >= 1, got max_tokens=0"


def test_json_is_what_it_was() -> None:
    assert json.loads(DEEP)["x"]
    assert ToolCall("i", "f", '{"a": 1.5e3, "b": -0.0}').parsed == {"a": 1500.0, "b": -0.0}
