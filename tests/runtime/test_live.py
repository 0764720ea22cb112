"""The live mode: a program asks, a person answers."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from priompt_py import ArgumentTypeError, Hub, ModelOutput, Node, RunError, capture, live, user_message
from priompt_py.runtime.live import HUB

pytestmark = pytest.mark.anyio


def ask(question: str, on_return: Callable[..., None]) -> Node:
    return [user_message[question], capture(on_output=lambda output: on_return(output.text.upper()))]


async def test_a_program_gets_what_a_person_types() -> None:
    hub = Hub()
    before = datetime.now(UTC)
    asking = asyncio.create_task(live(ask, {"question": "Why?"}, token_limit=100, hub=hub))
    question = await hub.wait_for_question()
    assert (question.id, question.name, question.props) == ("q1", "ask", {"question": "Why?"})
    assert question.rendered.messages is not None
    assert [message.text for message in question.rendered.messages] == ["Why?"]
    assert before <= question.asked_at <= datetime.now(UTC)
    hub.answer("q1", "because")
    assert await asking == "BECAUSE"
    assert hub.questions() == []


async def test_a_node_and_a_whole_output() -> None:
    hub = Hub()
    asking = asyncio.create_task(live("Hello", token_limit=100, hub=hub))
    question = await hub.wait_for_question()
    output = ModelOutput(text="Hi", finish_reason="length")
    hub.answer(question.id, output)
    assert await asking is output
    assert question.name == "str"


async def test_the_prompts_own_limit_and_the_hub_of_the_process() -> None:
    class Prompt:
        token_limit = 50

        def __call__(self) -> Node:
            return "Hello"

    asking = asyncio.create_task(live(Prompt()))
    question = await HUB.wait_for_question()
    assert (question.rendered.token_limit, question.name) == (50, "Prompt")
    HUB.answer(question.id, "Hi")
    assert (await asking).text == "Hi"


async def test_several_questions_the_oldest_first() -> None:
    hub = Hub()
    asking = [asyncio.create_task(live(f"{i}", token_limit=100, hub=hub)) for i in range(3)]
    while len(hub.questions()) < 3:  # noqa: ASYNC110 - there is nothing else to wait for
        await asyncio.sleep(0)
    for question in reversed(hub.questions()):
        hub.answer(question.id, f"to {question.rendered.text}")
    assert [(await one).text for one in asking] == ["to 0", "to 1", "to 2"]


async def test_answers_from_another_thread() -> None:
    hub = Hub()
    asked = threading.Event()
    hub.watch(asked.set)

    def person() -> None:
        assert asked.wait(5)
        hub.answer(hub.questions()[0].id, "from afar")

    thread = threading.Thread(target=person)
    thread.start()
    assert (await asyncio.wait_for(live("Hello", token_limit=100, hub=hub), 5)).text == "from afar"
    thread.join()


async def test_a_refusal() -> None:
    hub = Hub()
    asking = asyncio.create_task(live(ask, {"question": "Why?"}, token_limit=100, hub=hub))
    hub.refuse((await hub.wait_for_question()).id, "lunch")
    with pytest.raises(RunError) as caught:
        await asking
    assert str(caught.value) == "the question 'ask' was refused: lunch"


async def test_a_cancelled_program_takes_its_question_back() -> None:
    hub = Hub()
    changes: list[int] = []
    end = hub.watch(lambda: changes.append(len(hub.questions())))
    asking = asyncio.create_task(live("Hello", token_limit=100, hub=hub))
    question = await hub.wait_for_question()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert (hub.questions(), changes) == ([], [1, 0])
    for late in (hub.answer, hub.refuse):
        with pytest.raises(RunError) as caught:
            late(question.id, "x")
        assert str(caught.value) == "no question 'q1' waits: it is answered, or its program has gone on"
    end()
    asking = asyncio.create_task(live("Hello", token_limit=100, hub=hub))
    hub.answer((await hub.wait_for_question()).id, "x")
    await asking
    assert changes == [1, 0]


async def test_two_answers_at_once() -> None:
    hub = Hub()
    asking = asyncio.create_task(live("Hello", token_limit=100, hub=hub))
    question = await hub.wait_for_question()
    question.future.set_result(ModelOutput(text="first"))
    with pytest.raises(RunError, match="no question 'q1' waits"):
        hub.answer("q1", "second")
    assert (await asking).text == "first"


NO_ANSWER: Any = 5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Hub().answer("q1", NO_ANSWER), "Hub.answer() needs text or a ModelOutput, got 5 (int)"),
        (
            lambda: asyncio.run(live("x", token_limit=5, model=print)),
            "live() takes no model: a person answers; to ask a model take run()",
        ),
    ],
)
def test_wrong_arguments(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ArgumentTypeError) as caught:
        call()
    assert str(caught.value) == message
