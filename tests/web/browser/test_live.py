"""A running program waits in the page for its answer, and goes on with what a person types."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from tests.web.browser.axe import faults
from tests.web.browser.site import Site, expect

pytestmark = pytest.mark.browser

PROGRAM = """
import asyncio, sys
from priompt_py import RunError, live, scope, system_message, tool_definition, user_message

def ask(question):
    return [
        system_message["You are a person."],
        user_message[scope(p=10, name="hint")["Be quick. "], question],
        tool_definition(name="look", description="Look around.", parameters={"type": "object", "properties": {}}),
    ]

async def main():
    for question in sys.argv[1:]:
        try:
            output = await live(ask, {"question": question}, token_limit=100)
            print("got", output.text, [call.name for call in output.tool_calls], flush=True)
        except RunError as error:
            print("refused", error, flush=True)

asyncio.run(main())
"""


@pytest.fixture
def program(site: Site) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts a program that asks questions; it finds the preview by its announcement."""
    started: list[subprocess.Popen[str]] = []

    def start(*questions: str) -> subprocess.Popen[str]:
        environment = {**os.environ, "XDG_RUNTIME_DIR": str(site.server.runtime), "PYTHONUTF8": "1"}
        started.append(
            subprocess.Popen(
                [sys.executable, "-c", PROGRAM, *questions],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                text=True,
            )
        )
        return started[-1]

    yield start
    for one in started:
        one.kill()
        one.communicate(timeout=10)


def line(program: subprocess.Popen[str]) -> str:
    assert program.stdout is not None
    return program.stdout.readline().strip()


def test_a_program_gets_the_answer_that_a_person_types(
    site: Site, program: Callable[..., subprocess.Popen[str]]
) -> None:
    tab = site.open("lines")
    asking = program("What is your name?", "And your age?")
    badge = tab.page.get_by_role("button", name="1 question waits")
    badge.click(timeout=20_000)
    expect(tab.page.locator("#crumb")).to_have_text("ask waits for an answer")
    expect(tab.page.locator("#text")).to_contain_text("Be quick. What is your name?")
    expect(tab.page.locator("#limit")).to_be_disabled()
    panel = tab.panel("answer")
    expect(panel.get_by_role("heading", name="Answer for ask")).to_be_visible()
    panel.get_by_label("Text of the answer").fill("Zoë <b>")
    panel.get_by_text("Tool calls", exact=True).click()
    panel.get_by_role("button", name="+ look").click()
    panel.get_by_label("Text of the answer").press("Control+Enter")
    assert line(asking) == "got Zoë <b> ['look']"
    expect(tab.page.locator("#text")).to_contain_text("And your age?")  # the next question comes up by itself
    expect(panel.get_by_label("Text of the answer")).to_have_value("")
    panel.get_by_label("Text of the answer").fill("none of your business")
    panel.get_by_role("button", name="Refuse").click()
    assert line(asking) == "refused the question 'ask' was refused: none of your business"
    expect(panel).to_contain_text("This question waits no more. The next one will come up here.")
    expect(badge).to_be_hidden()
    tab.page.locator("#prompts button.prompt").filter(has_text="lines").click()
    expect(tab.page.locator("#limit")).to_be_enabled()


def test_a_question_that_is_gone_leaves_the_page(
    site: Site, program: Callable[..., subprocess.Popen[str]]
) -> None:
    tab = site.open("lines")
    asking = program("Are you there?")
    tab.page.locator("#questions button").last.click(timeout=20_000)
    expect(tab.page.locator("#text")).to_contain_text("Are you there?")
    for name in ("Costs", "Request"):
        tab.tab(name)
    expect(tab.panel("request").locator("pre")).to_contain_text("Are you there?")
    asking.kill()
    tab.tab("Answer")
    expect(tab.panel("answer")).to_contain_text("This question waits no more.", timeout=15_000)
    expect(tab.panel("answer").get_by_role("button", name="Send")).to_be_disabled()


@pytest.mark.parametrize(("width", "height", "scheme"), [(360, 740, "light"), (1_920, 1_080, "dark")])
def test_axe_finds_nothing_while_a_program_waits(
    site: Site, program: Callable[..., subprocess.Popen[str]], width: int, height: int, scheme: str
) -> None:
    tab = site.open("lines", width=width, height=height, scheme=scheme)
    program("Are you there?")
    tab.page.get_by_role("button", name="1 question waits").click(timeout=20_000)
    panel = tab.panel("answer")
    expect(panel.get_by_role("heading", name="Answer for ask")).to_be_visible()
    panel.get_by_text("Tool calls", exact=True).click()
    assert faults(tab) == []
    panel.get_by_role("button", name="Refuse").click()
    expect(panel).to_contain_text("This question waits no more.")
    assert faults(tab) == []
