"""The page in somebody's own server, under a path."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.web.browser.site import Site, expect

pytestmark = pytest.mark.browser

PROGRAM = """
import asyncio, socket
import uvicorn
from starlette.applications import Starlette
from starlette.routing import Mount
from priompt_py import Hub, live, scope, user_message
from priompt_py.web import preview_app

hub = Hub()

def hello(name="you"):
    return ["Hello", scope(p=1, name="who")[f" {name}"]]

def ask():
    return [user_message["Which way?"]]

async def main():
    sock = socket.create_server(("127.0.0.1", 0))
    port = sock.getsockname()[1]
    one = preview_app({"hello": hello}, hub=hub)
    other = preview_app({"elsewhere": hello}, hub=Hub())
    app = Starlette(routes=[Mount("/debug/one", one), Mount("/debug/other", other)])
    for name, preview in ("one", one), ("other", other):
        print(preview.address(f"http://127.0.0.1:{port}/debug/{name}"), flush=True)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", ws="none"))
    serving = asyncio.create_task(server.serve([sock]))
    output = await live(ask, token_limit=50, hub=hub)
    print(output.text, flush=True)
    await serving

asyncio.run(main())
"""


@pytest.fixture
def program() -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, text=True)
    yield process
    process.kill()
    process.communicate(timeout=10)


def test_two_previews_under_paths_of_one_server(site: Site, program: subprocess.Popen[str]) -> None:
    assert program.stdout is not None
    one, other = (program.stdout.readline().strip() for _ in range(2))
    tab = site.stranger()
    tab.page.goto(one)
    tab.page.locator("#prompts button.prompt").filter(has_text="hello").click()
    expect(tab.page.locator("#text")).to_have_text("Hello you")
    second = site.tab_of(tab.page.context)
    second.page.goto(other)
    second.page.locator("#prompts button.prompt").filter(has_text="elsewhere").click()
    expect(second.page.locator("#text")).to_have_text("Hello you")
    tab.page.reload()  # each keeps its own token
    expect(tab.page.locator("#text")).to_have_text("Hello you")
    tab.page.get_by_role("button", name="1 question waits").click()
    expect(tab.page.locator("#text")).to_contain_text("Which way?")
    answer = tab.panel("answer").get_by_label("Text of the answer")
    answer.fill("left")
    answer.press("Control+Enter")
    assert program.stdout.readline() == "left\n"
