"""The synchronous clients against the local server: pictures, parallel calls, failures, early ends."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from priompt_py import Delta, ModelOutput, capture, config, image, run_sync, tools, user_message
from tests.runtime.server import Say, Server
from tests.runtime.test_clients import ERRORS, KINDS, PICTURE, asking_sync, question, server

__all__ = ["server"]


def look(place: str, days: int = 1) -> str:
    return f"{place}: blue for {days}"


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_and_parallel_calls(server: Server, kind: str, stream: bool) -> None:
    server.answers.append(
        Say(
            calls=[
                ("call_1", "look", '{"place": "Oslo", "days": 3}'),
                ("call_2", "look", '{"place": "Kyiv"}'),
            ]
        )
    )
    results: dict[str | None, str] = {}
    deltas: list[Delta] = []

    def keep(result: str, call: Any) -> None:
        results[call.id] = result

    async def show(stream: AsyncIterator[Delta]) -> None:
        deltas.extend([delta async for delta in stream])

    prompt = [
        user_message["What is this?", image(data=PICTURE.read_bytes())],
        config(max_response_tokens=50),
        tools(on_result=keep)[look],
        capture(on_stream=show),
    ]
    output: ModelOutput = run_sync(
        prompt, model=asking_sync(kind, server.url, stream=stream), token_limit=5_000
    )
    assert results == {"call_1": "Oslo: blue for 3", "call_2": "Kyiv: blue for 1"}
    assert (output.finish_reason, server.faults) == ("tool_calls", [])
    said = ["".join(d.call.arguments for d in deltas if d.call and d.call.position == i) for i in (0, 1)]
    assert said == [call.arguments for call in output.tool_calls]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_errors_pass_through(server: Server, kind: str, stream: bool) -> None:
    server.answers += [Say(status=429), Say(status=500)]
    for error in ERRORS[kind]:
        with pytest.raises(error):
            run_sync(question(), model=asking_sync(kind, server.url, stream=stream), token_limit=500)


@pytest.mark.parametrize("kind", KINDS)
def test_a_cut_connection_is_the_clients_error(server: Server, kind: str) -> None:
    server.answers.append(Say("Because of the air.", cut_after=6))
    with pytest.raises(Exception, match=r"(?i)connection|incomplete|closed") as caught:
        run_sync(question(), model=asking_sync(kind, server.url, stream=True), token_limit=500)
    assert type(caught.value).__module__.partition(".")[0] in ("openai", "anthropic", "httpx", "httpx2")


@pytest.mark.parametrize("failing", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_an_early_end_closes_the_connection(server: Server, kind: str, failing: bool) -> None:
    server.answers.append(Say("Because of the air. " * 500, pause=0.01))

    async def first(stream: AsyncIterator[Delta]) -> None:
        async for delta in stream:
            if str(delta):
                if failing:
                    raise LookupError("no such thing")
                return

    prompt, model = question(capture(on_stream=first)), asking_sync(kind, server.url, stream=True)
    if failing:
        with pytest.raises(LookupError, match="no such thing"):
            run_sync(prompt, model=model, token_limit=500)
    else:
        assert run_sync(prompt, model=model, token_limit=500).text.startswith("Beca")
    assert server.closed_early.wait(10)
    assert server.events_sent < 100
