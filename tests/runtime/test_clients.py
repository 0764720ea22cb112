"""The official clients against a local server: whole answers, streams, tools, pictures, failures, early ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest

from priompt_py import (
    Delta,
    ModelOutput,
    ModelStream,
    Node,
    ToolCall,
    Usage,
    anthropic_model,
    assistant_message,
    capture,
    config,
    image,
    openai_model,
    run,
    run_sync,
    system_message,
    tool_message,
    tools,
    user_message,
)
from tests.runtime.server import Say, Server

PICTURE = Path(__file__).parents[2] / "examples" / "data" / "visitors.png"
KINDS = ["chat", "responses", "anthropic"]

Make = Callable[..., Any]


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as made:
        yield made


async def asking(kind: str, url: str, **options: Any) -> Any:
    """A model of an asynchronous client."""
    if kind == "anthropic":
        client: Any = anthropic.AsyncAnthropic(
            base_url=url, api_key="k", max_retries=options.pop("retries", 0)
        )
        return anthropic_model(client, model="some-model", **options)
    client = openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="k", max_retries=options.pop("retries", 0))
    api: Any = kind
    return openai_model(client, model="some-model", api=api, **options)


def asking_sync(kind: str, url: str, **options: Any) -> Any:
    """The same of a synchronous one."""
    if kind == "anthropic":
        client: Any = anthropic.Anthropic(base_url=url, api_key="k", max_retries=0)
        return anthropic_model(client, model="some-model", **options)
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0)
    api: Any = kind
    return openai_model(client, model="some-model", api=api, **options)


def question(*more: Node) -> list[Node]:
    return [system_message["Be brief."], user_message["Why?"], config(max_response_tokens=50), *more]


USAGE = Usage(11, 7, 3)


def same_usage(found: Usage | None) -> bool:
    return found is not None and (found.input_tokens, found.output_tokens, found.cached_tokens) == (11, 7, 3)


# ------------------------------------------------------------------------------------------ whole answers


@pytest.mark.anyio
@pytest.mark.parametrize("kind", KINDS)
async def test_a_whole_answer(server: Server, kind: str) -> None:
    server.answers.append(Say("Because of the air."))
    model = await asking(kind, server.url, metadata={"user_id": "u"})
    found: ModelOutput = await run(question(), model=model, token_limit=500)
    assert (found.text, found.finish_reason, found.tool_calls) == ("Because of the air.", "stop", ())
    assert same_usage(found.usage)
    (request,) = server.requests
    assert (request["model"], request["metadata"], request["stream"]) == (
        "some-model",
        {"user_id": "u"},
        False,
    )
    assert server.faults == []


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_synchronous_clients(server: Server, kind: str, stream: bool) -> None:
    server.answers.append(Say("Because of the air."))
    found = run_sync(question(), model=asking_sync(kind, server.url, stream=stream), token_limit=500)
    assert (found.text, found.finish_reason) == ("Because of the air.", "stop")
    assert same_usage(found.usage)


@pytest.mark.anyio
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("kind", KINDS)
async def test_a_picture_goes_and_an_answer_comes(server: Server, kind: str, stream: bool) -> None:
    server.answers.append(Say("A chart."))
    prompt = [user_message["What is this?", image(data=PICTURE.read_bytes())], config(max_response_tokens=9)]
    got: list[str] = []
    handled = [*prompt, capture(on_output=lambda output: got.append(output.text))]
    await run(handled, model=await asking(kind, server.url, stream=stream), token_limit=5_000)
    assert got == ["A chart."]
    assert server.faults == []
    assert len(str(server.requests[0])) > PICTURE.stat().st_size


# ------------------------------------------------------------------------------------------ streams


@pytest.mark.anyio
@pytest.mark.parametrize("kind", KINDS)
async def test_a_stream_is_the_result(server: Server, kind: str) -> None:
    server.answers.append(Say("Because of the air."))
    stream = await run(question(), model=await asking(kind, server.url, stream=True), token_limit=500)
    assert isinstance(stream, ModelStream)
    texts = [str(delta) async for delta in stream]
    assert [text for text in texts if text] == ["Beca", "use ", "of t", "he a", "ir."]
    assert (stream.output.text, stream.output.finish_reason) == ("Because of the air.", "stop")
    assert same_usage(stream.output.usage)
    assert not server.closed_early.is_set()


@pytest.mark.anyio
@pytest.mark.parametrize("kind", KINDS)
async def test_all_handlers_get_a_stream(server: Server, kind: str) -> None:
    server.answers.append(Say("Because of the air."))
    deltas: list[str] = []
    raw: list[str] = []

    def prompt(on_return: Callable[..., None]) -> Node:
        async def show(stream: AsyncIterator[Delta]) -> None:
            deltas.extend([str(delta) async for delta in stream if str(delta)])

        async def keep(stream: AsyncIterator[Any]) -> None:
            raw.extend([type(chunk).__name__ async for chunk in stream])

        return question(
            capture(on_stream=show, on_output=lambda output: on_return(output.text)),
            capture(on_stream=show, on_stream_response=keep),
        )

    found = await run(prompt, model=await asking(kind, server.url, stream=True), token_limit=500)
    assert found == "Because of the air."
    assert sorted(deltas) == sorted(2 * ["Beca", "use ", "of t", "he a", "ir."])
    first = {
        "chat": "ChatCompletionChunk",
        "responses": "ResponseCreatedEvent",
        "anthropic": "RawMessageStartEvent",
    }
    assert raw[0] == first[kind]


# ------------------------------------------------------------------------------------------ tools


async def look(place: str, days: int = 1) -> str:
    """Look at the sky.

    Args:
        place: Where.
    """
    await asyncio.sleep(0)
    return f"{place}: blue for {days}"


@pytest.mark.anyio
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("kind", KINDS)
async def test_parallel_calls_and_their_results(server: Server, kind: str, stream: bool) -> None:
    calls = [
        ("call_1", "look", '{"place": "Ky\\u00efv"}'),
        ("call_2", "look", '{"place": "Oslo", "days": 3}'),
    ]
    server.answers += [Say("Let me look.", calls=calls), Say("Blue everywhere.")]
    model = await asking(kind, server.url, stream=stream)
    results: dict[str | None, Any] = {}
    partials: list[Any] = []

    async def follow(stream: AsyncIterator[dict[str, Any]], call: Any) -> None:
        partials.extend([(call.id, partial) async for partial in stream][-1:])

    def keep(result: Any, call: ToolCall) -> None:
        results[call.id] = result

    history: list[Node] = [user_message["What colour is the sky?"]]
    settings = [
        tools(on_result=keep, on_format=follow)[look],
        config(max_response_tokens=50),
    ]
    # The type of the answer: with handlers for calls it is joined.
    output: ModelOutput = await run([history, settings], model=model, token_limit=2_000)
    assert output.text == "Let me look."
    assert results == {"call_1": "Kyïv: blue for 1", "call_2": "Oslo: blue for 3"}
    assert sorted(partials) == [("call_1", {"place": "Kyïv"}), ("call_2", {"place": "Oslo", "days": 3})]

    history.append(assistant_message(tool_calls=output.tool_calls)[output.content])
    history += [tool_message(tool_call_id=str(call.id))[results[call.id]] for call in output.tool_calls]
    output = await run([history, settings], model=model, token_limit=2_000)
    assert output.text == "Blue everywhere."
    assert server.faults == []


# ------------------------------------------------------------------------------------------ failures


ERRORS: dict[str, tuple[type[Exception], type[Exception]]] = {
    "chat": (openai.RateLimitError, openai.InternalServerError),
    "responses": (openai.RateLimitError, openai.InternalServerError),
    "anthropic": (anthropic.RateLimitError, anthropic.InternalServerError),
}


@pytest.mark.anyio
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("kind", KINDS)
async def test_errors_of_the_client_pass_through(server: Server, kind: str, stream: bool) -> None:
    server.answers += [Say(status=429), Say(status=500)]
    model = await asking(kind, server.url, stream=stream)
    for error in ERRORS[kind]:
        with pytest.raises(error):
            await run(question(), model=model, token_limit=500)


@pytest.mark.anyio
@pytest.mark.parametrize("kind", KINDS)
async def test_retries_are_the_clients(server: Server, kind: str) -> None:
    server.answers += [Say(status=429), Say(status=500), Say("At last.")]
    found = await run(question(), model=await asking(kind, server.url, retries=2), token_limit=500)
    assert (found.text, len(server.requests)) == ("At last.", 3)


@pytest.mark.anyio
@pytest.mark.parametrize("kind", KINDS)
async def test_a_cut_connection_is_the_clients_error(server: Server, kind: str) -> None:
    server.answers.append(Say("Because of the air.", cut_after=6))
    got: list[str] = []

    async def show(stream: AsyncIterator[Delta]) -> None:
        got.extend([str(delta) async for delta in stream])

    model = await asking(kind, server.url, stream=True)
    with pytest.raises(Exception, match=r"(?i)connection|incomplete|closed") as caught:
        await run(question(capture(on_stream=show)), model=model, token_limit=500)
    assert type(caught.value).__module__.partition(".")[0] in ("openai", "anthropic", "httpx", "httpx2")
    assert got == []


@pytest.mark.anyio
@pytest.mark.parametrize("kind", KINDS)
async def test_a_whole_answer_that_was_cut_by_its_limit(server: Server, kind: str) -> None:
    server.answers.append(Say("Because", finish="length"))
    found = await run(question(), model=await asking(kind, server.url, stream=True), token_limit=500)
    assert (await found.join()).finish_reason == "length"


# ------------------------------------------------------------------------------------------ early ends


async def saw_close(server: Server) -> bool:
    return await asyncio.to_thread(server.closed_early.wait, 5)


@pytest.mark.anyio
@pytest.mark.parametrize("kind", KINDS)
async def test_closing_the_stream_closes_the_connection(server: Server, kind: str) -> None:
    server.answers.append(Say("Because of the air.", hang_after=6))
    stream = await run(question(), model=await asking(kind, server.url, stream=True), token_limit=500)
    async with stream:
        async for delta in stream:
            if str(delta):
                break
    assert await saw_close(server)
    assert stream.output.text == "Beca"


@pytest.mark.anyio
@pytest.mark.parametrize("kind", KINDS)
async def test_the_last_handler_that_goes_closes_the_connection(server: Server, kind: str) -> None:
    """Also while the server says nothing more: nobody has to wait for the next piece."""
    server.answers.append(Say("Because of the air.", hang_after=6))

    async def first(stream: AsyncIterator[Delta]) -> None:
        async for delta in stream:
            if str(delta):
                return

    prompt = question(capture(on_stream=first), capture(on_stream=first))
    output = await run(prompt, model=await asking(kind, server.url, stream=True), token_limit=500)
    assert await saw_close(server)
    assert (output.text[:4], output.finish_reason) == ("Beca", None)


@pytest.mark.anyio
@pytest.mark.parametrize("kind", KINDS)
async def test_a_failing_handler_closes_the_connection(server: Server, kind: str) -> None:
    server.answers.append(Say("Because of the air.", hang_after=6))
    others: list[str] = []

    async def fail(stream: AsyncIterator[Delta]) -> None:
        async for delta in stream:
            if str(delta):
                raise LookupError("no such thing")

    async def wait(stream: AsyncIterator[Delta]) -> None:
        try:
            async for _ in stream:
                pass
        except asyncio.CancelledError:
            others.append("cancelled")
            raise

    prompt = question(capture(on_stream=wait), capture(on_stream=fail, key="fails"))
    with pytest.raises(LookupError, match="no such thing") as caught:
        await run(prompt, model=await asking(kind, server.url, stream=True), token_limit=500)
    assert caught.value.__notes__ == ["in on_stream of capture 'fails'"]
    assert others == ["cancelled"]
    assert await saw_close(server)


@pytest.mark.anyio
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("kind", KINDS)
async def test_cancelling_a_run_closes_the_connection(server: Server, kind: str, stream: bool) -> None:
    server.answers.append(Say("Because of the air.", hang_after=6))
    prompt = question(capture(on_output=print))
    model = await asking(kind, server.url, stream=stream)
    task = asyncio.create_task(run(prompt, model=model, token_limit=500))
    while not server.requests or (stream and server.events_sent < 6):  # noqa: ASYNC110 - set in another thread
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await saw_close(server)


@pytest.mark.anyio
@pytest.mark.parametrize("kind", KINDS)
async def test_a_timeout_around_a_run(server: Server, kind: str) -> None:
    server.answers.append(Say("Because of the air.", hang_after=6))
    model = await asking(kind, server.url, stream=True)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):
            await run(question(capture(on_output=print)), model=model, token_limit=500)
    assert await saw_close(server)
