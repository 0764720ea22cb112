"""run: prompts, props, limits, models, what comes back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from priompt_py import (
    ArgumentTypeError,
    ArgumentValueError,
    Delta,
    Environment,
    Memory,
    ModelOutput,
    ModelStream,
    Node,
    PromptTooLong,
    Rendered,
    RunError,
    ToolCall,
    capture,
    component,
    config,
    empty,
    isolate,
    limit_for,
    run,
    run_sync,
    scope,
    tool_definition,
    turn,
    user_message,
)
from priompt_py.testing.tokenizers import CharTokenizer

CHARS = CharTokenizer()
pytestmark = pytest.mark.anyio

OnReturn = Callable[..., None]


def echo(rendered: Rendered) -> str:
    """A model that says what it was asked."""
    return rendered.text if rendered.text is not None else "|".join(m.text for m in rendered.messages or ())


async def asked(
    prompt: Any, props: Any = None, *, model: Callable[[Rendered], Any] = echo, **options: Any
) -> Any:
    given: dict[str, Any] = {"token_limit": 100, "tokenizer": CHARS, **options}
    return await run(prompt, props, model=model, **given)


async def returned(
    prompt: Callable[[OnReturn], Node], *, model: Callable[[Rendered], Any] = echo, **options: Any
) -> Any:
    return await asked(prompt, model=model, **options)


# ------------------------------------------------------------------------------------------ models


async def answer_async(rendered: Rendered) -> str:
    await asyncio.sleep(0)
    return echo(rendered)


async def answer_later(rendered: Rendered) -> Any:
    return answer_async(rendered)


def answer_output(rendered: Rendered) -> ModelOutput:
    return ModelOutput(text=echo(rendered))


class Called:
    async def __call__(self, rendered: Rendered) -> str:
        return echo(rendered)


@pytest.mark.parametrize("model", [echo, answer_async, answer_later, answer_output, Called()])
async def test_a_whole_answer(model: Any) -> None:
    found = await asked("Hello", model=model)
    assert (type(found), found.text) == (ModelOutput, "Hello")


def stream_sync(rendered: Rendered) -> Iterator[str]:
    yield from echo(rendered)


async def stream_async(rendered: Rendered) -> AsyncIterator[Delta]:
    for letter in echo(rendered):
        yield Delta(text=letter)


async def stream_awaited(rendered: Rendered) -> AsyncIterator[Delta]:
    return stream_async(rendered)


def stream_list(rendered: Rendered) -> list[str]:
    return [*echo(rendered)]


def stream_chunks(rendered: Rendered) -> Iterator[dict[str, Any]]:
    for letter in echo(rendered):
        yield {"choices": [{"index": 0, "delta": {"content": letter}}]}


STREAMS = [stream_sync, stream_async, stream_awaited, stream_list, stream_chunks]


@pytest.mark.parametrize("model", STREAMS)
async def test_a_stream_is_the_result_where_nothing_takes_it(model: Any) -> None:
    stream = await asked("Hello", model=model)
    assert isinstance(stream, ModelStream)
    assert [str(delta) async for delta in stream] == ["H", "e", "l", "l", "o"]
    assert stream.output.text == "Hello"
    assert [delta async for delta in stream] == []


@pytest.mark.parametrize("model", STREAMS)
async def test_a_stream_is_joined_for_who_takes_the_answer(model: Any) -> None:
    got: list[str] = []
    found = await asked(["Hello", capture(on_output=lambda output: got.append(output.text))], model=model)
    assert (found.text, got) == ("Hello", ["Hello"])


@pytest.mark.parametrize("model", [echo, *STREAMS])
def test_the_synchronous_door(model: Any) -> None:
    found = run_sync("Hello", model=model, token_limit=100)
    assert (type(found), found.text) == (ModelOutput, "Hello")


async def test_the_synchronous_door_is_shut_inside_a_loop() -> None:
    with pytest.raises(RunError) as caught:
        run_sync("Hello", model=echo, token_limit=100)
    assert str(caught.value) == (
        "run_sync() is for programs without an event loop; here one runs: write 'await run(...)'"
    )


class Opened:
    async def __aenter__(self) -> None: ...

    async def __aexit__(self, *_: object) -> None: ...


class Pydantic:
    def model_dump(self) -> dict[str, Any]:
        return {}

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __repr__(self) -> str:
        return "Pydantic()"


WANTED = (
    "the model has to give text, a ModelOutput, an iterator of Deltas, texts or a client's pieces, or something that "
    "can be awaited for one of these; got "
)
CLIENT = (
    "; a function that calls a client is made by openai_model(client, model=...) or anthropic_model(...); what a client "
    "answered at once is read by output_from_openai(...) and its like"
)


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (None, f"None (NoneType){CLIENT}"),
        (5, f"5 (int){CLIENT}"),
        (b"x", f"b'x' (bytes){CLIENT}"),
        ({"a": 1}, f"{{'a': 1}} (dict){CLIENT}"),
        (Pydantic(), f"Pydantic() (Pydantic){CLIENT}"),
    ],
)
async def test_what_is_no_answer(given: object, shown: str) -> None:
    with pytest.raises(RunError) as caught:
        await asked("Hello", model=lambda _: given)
    assert str(caught.value) == WANTED + shown


async def test_what_has_to_be_entered_first() -> None:
    with pytest.raises(RunError, match=r"it has to be entered first: give what `with` gives$"):
        await asked("Hello", model=lambda _: Opened())


async def test_the_models_own_error_is_raised_itself() -> None:
    error = LookupError("no model")

    def fail(_: Rendered) -> str:
        raise error

    async def fail_later(_: Rendered) -> AsyncIterator[str]:
        yield "a"
        raise error

    for model in (fail, fail_later):
        with pytest.raises(LookupError) as caught:
            await asked(["Hello", capture(on_output=print)], model=model)
        assert caught.value is error


# ------------------------------------------------------------------------------------------ prompts and props


def greet(name: str, *, polite: bool = False) -> Node:
    return f"Dear {name}" if polite else f"Hi {name}"


async def greet_async(name: str) -> Node:
    await asyncio.sleep(0)
    return f"Hi {name}"


def greet_anyhow(**props: str) -> Node:
    return f"Hi {props['name']}"


def plain() -> Node:
    return "x"


def returning(on_return: OnReturn) -> Node:
    return capture(on_output=on_return)


@component
def greeting(children: Node, *, name: str) -> Node:
    return ["Hi ", name, children]


async def test_prompts_of_every_kind() -> None:
    assert (await asked(greet, {"name": "Ann"})).text == "Hi Ann"
    assert (await asked(greet, {"name": "Ann", "polite": True})).text == "Dear Ann"
    assert (await asked(greet_async, {"name": "Ann"})).text == "Hi Ann"
    assert (await asked(greeting, {"name": "Ann"})).text == "Hi Ann"
    assert (await asked(scope["Hi ", "Ann"])).text == "Hi Ann"
    assert (await asked(greet_anyhow, {"name": "Ann"})).text == "Hi Ann"
    template = Environment().from_string("Hi {name}")
    assert (await asked(template, {"name": "Ann"})).text == "Hi Ann"


@pytest.mark.parametrize(
    ("prompt", "props", "message"),
    [
        (greet, None, "greet() needs name: give props={'name': ...}"),
        (greet, {"nam": 1}, "greet() takes no prop 'nam'; did you mean name?"),
        (greet, {"name": "x", "colour": 1}, "greet() takes no prop 'colour'; it takes name, polite"),
        (plain, {"a": 1}, "plain() takes no prop 'a'; it takes none"),
        (returning, {"a": 1}, "returning() takes no prop 'a'; it takes none"),
        (greeting, {"children": "x", "name": "y"}, "greeting() takes no prop 'children'; it takes name"),
        ("x", {"a": 1}, "run(): the prompt is a node, which takes no props, got a"),
        (greet, [1], "run() needs a mapping of names to values for props, got props=[1] (list)"),
    ],
)
async def test_props_that_dont_fit(prompt: Any, props: Any, message: str) -> None:
    with pytest.raises(ArgumentTypeError) as caught:
        await asked(prompt, props)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"model": 5}, ArgumentTypeError, "run() needs a function for model, got model=5 (int)"),
        (
            {"handler_timeout": "1"},
            ArgumentTypeError,
            "run() needs a number of seconds for handler_timeout, got handler_timeout='1' (str)",
        ),
        (
            {"handler_timeout": 0},
            ArgumentValueError,
            "run() needs handler_timeout > 0, got handler_timeout=0",
        ),
        (
            {"handler_timeout": float("nan")},
            ArgumentValueError,
            "run() needs handler_timeout > 0, got handler_timeout=nan",
        ),
        (
            {"token_limit": None},
            ArgumentValueError,
            "a prompt needs a limit: no model, no window, and no limit was given",
        ),
        ({"token_limit": -1}, ArgumentValueError, "token_limit is a number of tokens of 0 or more, got -1"),
    ],
)
async def test_options_that_dont_fit(options: dict[str, Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind) as caught:
        await asked("Hello", **options)
    assert str(caught.value) == message


# ------------------------------------------------------------------------------------------ limits


class Named:
    """A model that has a name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, rendered: Rendered) -> str:
        return f"{rendered.token_limit}: {rendered.limit_from}"


UNKNOWN = Named("unknown")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"token_limit": 50}, "50: token_limit (50)"),
        ({"token_limit": 50, "window": 60}, "50: token_limit (50)"),
        ({"token_limit": 50, "window": 60, "answer": 20}, "40: window (60) - answer (20)"),
        ({"token_limit": None, "window": 60}, "60: window (60)"),
        ({"token_limit": 50, "window": 50}, "50: token_limit (50)"),
        ({"token_limit": limit_for(limits=[("config", 30)])}, "30: config (30)"),
        ({"token_limit": limit_for(limits=[("config", 30)]), "window": 40}, "30: config (30)"),
        ({"token_limit": limit_for(limits=[("config", 30)]), "window": 20}, "20: window (20)"),
        ({"token_limit": None, "model": Named("gpt-4")}, "8192: window of gpt-4 (8192)"),
        ({"token_limit": 10_000, "model": Named("gpt-4")}, "8192: window of gpt-4 (8192)"),
        ({"token_limit": None, "model": Named("gpt-4"), "window": 99}, "99: window (99)"),
        (
            {"token_limit": None, "model": Named("gpt-4"), "answer": 192},
            "8000: window of gpt-4 (8192) - answer (192)",
        ),
    ],
)
async def test_the_smallest_limit_decides(options: dict[str, Any], said: str) -> None:
    assert (await asked("Hello", **{"model": UNKNOWN, **options})).text == said


async def test_the_prompts_own_limit_is_one_of_them() -> None:
    template = Environment().from_string("---\ntoken_limit: 30\n---\nHi", "hi.priompt")
    assert (await asked(template, model=UNKNOWN)).text == "30: token_limit of hi (30)"
    assert (await asked(template, model=UNKNOWN, token_limit=None)).text == "30: token_limit of hi (30)"
    assert (await asked(template, model=UNKNOWN, token_limit=20)).text == "20: token_limit (20)"
    chosen = limit_for(limits=[("config", 40)])
    assert (await asked(template, model=UNKNOWN, token_limit=chosen)).text == "30: token_limit of hi (30)"
    inner = isolate(token_limit=5)["Hi"]  # whose limit is its own
    assert (await asked(inner, model=UNKNOWN)).text == "100: token_limit (100)"


@pytest.mark.parametrize(
    ("most", "said"),
    [
        (20, "40: window (60) - answer (20)"),
        ("tokens_remaining", "60: window (60)"),
        ("tokens_reserved", "60: window (60)"),
    ],
)
async def test_the_prompts_own_answer_leaves_room(most: Any, said: str) -> None:
    """A number is room beside the prompt; what is reserved or remains lies inside the limit."""
    prompt: list[Node] = ["Hello", empty(tokens=7), config(max_response_tokens=most)]
    assert (await asked(prompt, model=UNKNOWN, token_limit=None, window=60)).text == said
    assert (
        await asked(prompt, model=UNKNOWN, token_limit=None, window=60, answer=0)
    ).text == "60: window (60)"


async def test_a_config_that_goes_with_the_limit_is_looked_at_again() -> None:
    """Under 50 the first config is out, and the second one asks for more: the limit falls once more."""
    prompt: list[Node] = [
        scope(p=1)[config(max_response_tokens=50), "x" * 55],
        config(max_response_tokens=80),
        "Hello",
    ]
    found = await asked(prompt, model=UNKNOWN, token_limit=None, window=100)
    assert found.text == "20: window (100) - answer (80)"


async def test_callbacks_are_called_once() -> None:
    calls: list[str] = []
    prompt = [scope(on_include=lambda: calls.append("in"))["x"], config(max_response_tokens=5)]
    await asked(prompt, window=60)
    assert calls == ["in"]


async def test_a_prompt_that_is_too_long_asks_nobody() -> None:
    calls: list[Rendered] = []
    with pytest.raises(PromptTooLong):
        await asked("x" * 20, model=calls.append, token_limit=10)
    assert calls == []


async def test_the_rest_goes_to_the_render() -> None:
    def model(rendered: Rendered) -> str:
        return str(rendered.source_map is not None)

    assert (await asked("Hello", model=model, source_map=True)).text == "True"
    assert (await asked(user_message["Hello"], last_message_incomplete=True)).text == "Hello"


# ------------------------------------------------------------------------------------------ what comes back


async def test_the_highest_p_counts_then_the_first_call() -> None:
    def prompt(on_return: OnReturn) -> Node:
        def handle(output: ModelOutput) -> None:
            for value, p in (("a", -1), ("b", 2), ("c", 2), ("d", 1.5)):
                on_return(value, p=p)

        return ["x", capture(on_output=handle)]

    assert await asked(prompt) == "b"


async def test_nothing_is_a_value_too() -> None:
    assert await returned(lambda on_return: ["x", capture(on_output=lambda _: on_return(None))]) is None


async def test_on_return_itself_takes_the_answer() -> None:
    found = await returned(lambda on_return: ["x", capture(on_output=on_return)])
    assert found.text == "x"


async def test_a_template_that_declares_on_return() -> None:
    template = Environment().from_string(
        "---\nprops:\n  on_return: any\n---\nHi<capture on_output={on_return}/>"
    )
    assert (await asked(template)).text == "Hi"


async def test_nothing_given_back_names_the_captures() -> None:
    def prompt(on_return: OnReturn) -> Node:
        async def read(stream: AsyncIterator[Delta]) -> None:
            async for _ in stream:
                pass

        return [
            "x",
            capture(on_output=lambda _: None, key="answer"),
            capture(on_output=lambda _: None, on_stream=read, on_stream_response=read),
        ]

    with pytest.raises(RunError) as caught:
        await asked(prompt)
    assert str(caught.value) == (
        "the prompt gave nothing back: nobody called on_return; these handlers were in: on_output of capture 'answer', "
        "on_output of capture 2, on_stream of capture 2, on_stream_response of capture 2"
    )


async def test_without_a_capture_nobody_is_asked() -> None:
    calls: list[Rendered] = []

    def prompt(on_return: OnReturn) -> Node:
        return ["x" * 10, scope(p=1)["y" * 10, capture(on_output=on_return)]]

    with pytest.raises(RunError) as caught:
        await asked(prompt, token_limit=15, model=calls.append)
    assert str(caught.value) == ("the prompt gave nothing back: nobody called on_return; no capture was in")
    assert calls == []


@pytest.mark.parametrize(
    ("p", "kind", "message"),
    [
        ("high", ArgumentTypeError, "on_return() needs a number for p, got p='high' (str)"),
        (float("nan"), ArgumentValueError, "on_return() needs a finite number for p, got p=nan (float)"),
    ],
)
async def test_a_p_that_is_none(p: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind) as caught:
        await returned(lambda on_return: ["x", capture(on_output=lambda _: on_return(1, p=p))])
    assert str(caught.value) == message


async def test_a_handlers_stream_cant_be_given_back() -> None:
    with pytest.raises(RunError) as caught:
        await returned(lambda on_return: ["x", capture(on_stream=on_return)])
    assert str(caught.value) == (
        "on_return() got the stream of a handler, which ends with the handler; return what was read of it, or leave "
        "the capture out: then run() gives the stream"
    )


async def test_on_return_is_not_a_prop() -> None:
    with pytest.raises(ArgumentValueError) as caught:
        await asked(greet, {"on_return": print})
    assert str(caught.value) == "run() gives on_return itself; leave it out of props"


async def test_a_default_for_on_return_is_replaced() -> None:
    def prompt(on_return: OnReturn = print) -> Node:
        return ["x", capture(on_output=lambda _: on_return(5))]

    assert await returned(prompt) == 5


async def test_handlers_of_tools_can_give_back_too() -> None:
    def prompt(on_return: OnReturn) -> Node:
        def wrong(error: Exception, call: Any) -> None:
            on_return(str(error)[:20])

        return ["x", tool_definition(name="look", on_parse_error=wrong)]

    output = ModelOutput(tool_calls=(ToolCall("c", "look", "{]"),))
    assert await returned(prompt, model=lambda _: output) == "the arguments of the"

    async def nothing(_: Rendered) -> str:
        return "no call"

    with pytest.raises(RunError, match=r"these handlers were in: on_parse_error of tool 'look'$"):
        await returned(prompt, model=nothing)


def test_without_asyncio_it_says_so() -> None:
    running = run("x", model=echo, token_limit=5)
    with pytest.raises(RunError) as caught:
        running.send(None)
    assert (
        str(caught.value) == "run() needs asyncio's event loop: under another one, trio's say, it can't run"
    )


# ------------------------------------------------------------------------------------------ the stream as the result


async def test_a_stream_can_be_joined_in_the_middle() -> None:
    stream: ModelStream = await asked("Hello", model=stream_async)
    assert str(await anext(stream)) == "H"
    assert stream.output.text == "H"
    assert (await stream.join()).text == "Hello"


async def test_a_closed_stream_has_no_more() -> None:
    closed: list[str] = []

    async def model(rendered: Rendered) -> AsyncIterator[str]:
        try:
            for letter in echo(rendered):
                yield letter
        finally:
            closed.append("closed")

    async with await asked("Hello", model=model) as stream:
        assert str(await anext(stream)) == "H"
    assert closed == ["closed"]
    assert [delta async for delta in stream] == []
    assert stream.output.text == "H"
    await stream.aclose()
    assert closed == ["closed"]


async def test_a_stream_given_on_as_an_answer() -> None:
    """A model may run a prompt of its own."""

    async def outer(_: Rendered) -> Any:
        return await asked("Hello", model=stream_async)

    assert (await (await asked("x", model=outer)).join()).text == "Hello"


async def test_a_failing_stream_is_closed() -> None:
    stream = await asked("x", model=lambda _: iter(["a", 5]))
    assert str(await anext(stream)) == "a"
    with pytest.raises(RunError):
        await anext(stream)
    assert [delta async for delta in stream] == []


async def test_a_conversation_keeps_its_cut() -> None:
    """The model sees the render, whose memory is for the next call."""
    seen: list[Rendered] = []

    def model(rendered: Rendered) -> str:
        seen.append(rendered)
        return "ok"

    history = [scope(prel=turn(i))[chr(ord("a") + i)] for i in range(23)]
    for number in range(1, 24):
        await asked(history[:number], model=model, token_limit=10, previous=seen[-1] if seen else Memory())
    assert [len(each.text or "") for each in seen] == [*range(1, 11), *[7, 8, 9, 10] * 3, 7]
    await asked(history, model=model, token_limit=10, previous=Memory(), keep=0.5, refill=0.5)
    assert seen[-1].text == "stuvw"
    with pytest.raises(ArgumentValueError):
        await asked("x", keep=0.5, refill=0.6)
