"""Answers of models: what a call's arguments parse to, what an answer says about itself."""

from __future__ import annotations

import pytest

from priompt_py.author.messages import assistant_message
from priompt_py.errors import ModelOutputError
from priompt_py.model.elements import Call, Part
from priompt_py.model.model_output import ModelOutput, ToolCall, Usage


@pytest.mark.parametrize(
    ("arguments", "parsed"),
    [('{"a": [1, "ß"]}', {"a": [1, "ß"]}), ("{}", {}), ("", {}), (" \n", {})],
)
def test_arguments_are_kept_as_sent_and_parsed(arguments: str, parsed: dict[str, object]) -> None:
    call = ToolCall("c1", "look", arguments)
    assert call.arguments == arguments
    assert call.parsed == parsed


def test_parsed_arguments_are_made_anew() -> None:
    call = ToolCall("c1", "look", '{"a": []}')
    call.parsed["a"].append(1)
    assert call.parsed == {"a": []}


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            ToolCall("c1", "look", '{"a": '),
            "the arguments of the call 'look' (id 'c1') are no JSON (at character 6): '{\"a\": '",
        ),
        (
            ToolCall("c1", "look", "{", incomplete=True),
            (
                "the arguments of the call 'look' (id 'c1') are no JSON (at character 1): '{'; the answer ended "
                "before the call did"
            ),
        ),
        (ToolCall(None, "look", "[1]"), "the arguments of the call 'look' are no JSON object: '[1]'"),
        (
            ToolCall("c1", "look", '{"a": NaN}'),
            "the arguments of the call 'look' (id 'c1') are no JSON (it holds NaN): '{\"a\": NaN}'",
        ),
    ],
)
def test_what_is_no_json_object_is_refused(call: ToolCall, sentence: str) -> None:
    with pytest.raises(ModelOutputError) as caught:
        _ = call.parsed
    assert str(caught.value) == sentence
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ('{"a":' + "[" * 200_000, "nested too deep"),
        ('{"a": ' + "1" * 5_000 + "}", "a number of too many digits"),
    ],
)
def test_what_the_parser_gives_up_on_is_refused(arguments: str, fault: str) -> None:
    with pytest.raises(ModelOutputError, match=fault):
        _ = ToolCall("c1", "look", arguments).parsed


def test_content_is_the_text_unless_given() -> None:
    assert ModelOutput("Hello").content == ("Hello",)
    assert ModelOutput(refusal="No.").content == ("No.",)
    assert ModelOutput().content == ()
    thought = Part(provider="anthropic", data={"type": "redacted_thinking", "data": "x"})
    assert ModelOutput("Hi", content=(thought, "Hi")).content == (thought, "Hi")


def test_raw_counts_for_nothing_in_comparisons() -> None:
    assert ModelOutput("a", raw={"x": 1}) == ModelOutput("a")
    assert ModelOutput("a", usage=Usage(input_tokens=1)) != ModelOutput("a")


def test_an_answer_goes_back_into_a_message() -> None:
    output = ModelOutput("Looking.", tool_calls=(ToolCall("c1", "look", "{}"),))
    message = assistant_message(tool_calls=output.tool_calls)[output.content]
    assert message.tool_calls == (Call("c1", "look", "{}"),)
    assert message.children == ("Looking.",)
