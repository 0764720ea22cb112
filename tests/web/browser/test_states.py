"""Nothing to show, errors, code that hangs, no token; markup in every field; and no fault of accessibility."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.web.asking import Running
from tests.web.browser.axe import faults
from tests.web.browser.shown import EVIL
from tests.web.browser.site import Site, expect

pytestmark = pytest.mark.browser

# ------------------------------------------------------------------------------------------ states


def test_an_error_is_told_and_other_props_render(site: Site) -> None:
    tab = site.open("raises")
    fault = tab.page.get_by_role("alert")
    expect(fault.get_by_role("heading")).to_have_text("The prompt could not be rendered")
    expect(fault).to_contain_text("no customer is called 'Bob' <img src=x")
    expect(fault.locator("pre", has_text="looking for Bob")).to_be_hidden()
    fault.get_by_text("What it printed").click()
    expect(fault.locator("pre", has_text="looking for Bob")).to_be_visible()
    fault.get_by_text("Traceback", exact=True).click()
    expect(fault).to_contain_text("raise ValueError")
    panel = tab.panel("props")
    panel.locator("textarea").fill('{"name": "Eve"}')
    panel.get_by_role("button", name="Render").click()
    expect(tab.page.locator("#text")).to_have_text("Hello Eve")
    expect(tab.page.locator("#notices")).to_contain_text("What the prompt's code printed")


def test_code_that_hangs_can_be_stopped_while_the_rest_works(site: Site) -> None:
    tab = site.open("hangs", wait=False)
    expect(tab.page.locator("#working")).to_have_text("Rendering…")
    stop = tab.page.get_by_role("button", name="Stop")
    expect(stop).to_be_visible(timeout=10_000)
    other = site.open("lines")
    expect(other.page.locator("#text")).to_contain_text("required")
    stop.click()
    expect(tab.page.get_by_role("alert")).to_be_visible(timeout=10_000)
    expect(stop).to_be_hidden()
    tab.page.locator("#prompts button.prompt").filter(has_text="lines").click()
    expect(tab.page.locator("#text")).to_contain_text("required")


def test_something_else_can_be_opened_while_code_hangs(site: Site) -> None:
    tab = site.open("hangs", wait=False)
    expect(tab.page.locator("#working")).to_have_text("Rendering…")
    tab.page.locator("#prompts button.prompt").filter(has_text="lines").click()
    expect(tab.page.locator("#text")).to_contain_text("required")
    expect(tab.page.locator("#working")).to_have_text("")
    site.server.post("api/cancel", {"prompt": "hangs"})


def test_a_prompt_without_text(site: Site) -> None:
    tab = site.open("blank")
    expect(tab.page.locator("#text")).to_have_text("This prompt has no text.")
    assert [tab.figure("used"), tab.figure("free")] == ["0", "10"]


def test_no_prompts_at_all(site: Site, tmp_path: Path) -> None:
    (tmp_path / "none.py").write_text("", "utf-8")
    server = Running(tmp_path, "--module", "none.py")
    try:
        tab = Site(site.browser, server, site.tabs, site.contexts).open()
        expect(tab.page.locator("#welcome h2")).to_have_text("No prompts yet")
        expect(tab.page.locator("#deck")).to_be_hidden()
        assert faults(tab) == []
    finally:
        server.stop()
    expect(tab.page.locator("#working")).to_have_text("The server does not answer; trying again…")
    tab.complaints.clear()  # of the connection


def test_a_prompt_that_is_not_there(site: Site) -> None:
    tab = site.open("nobody")
    expect(tab.page.get_by_role("alert")).to_contain_text("nobody")
    tab.page.locator("#prompts button.prompt").first.click()
    expect(tab.page.locator("#crumb")).to_have_text("support")


@pytest.mark.parametrize("before", ["", "#token=of-an-earlier-start"])
def test_the_address_is_pasted_into_a_page_without_access(site: Site, before: str) -> None:
    tab = site.stranger()
    tab.page.goto(f"{site.server.base}/{before}")
    heading = tab.page.get_by_role("heading", name="Open the address that priompt serve printed")
    expect(heading).to_be_visible()
    tab.page.goto(
        site.address({"prompt": "lines", "limit": 4})
    )  # the same page: only what stands behind # changes
    expect(tab.page.locator("#text")).to_contain_text("required")
    tab.at(4)
    expect(heading).to_be_hidden()
    assert "token" not in tab.page.url


def test_another_place_in_the_address(site: Site) -> None:
    tab = site.open("lines", limit=12)
    tab.page.evaluate("location.hash = '#prompt=lines&limit=4'")
    tab.at(4)
    assert tab.text_in == "required high"
    tab.page.evaluate("location.hash = '#prompt=support&limit=500'")
    tab.at(500)
    expect(tab.page.locator("#crumb")).to_have_text("support")


def test_without_the_token_nothing_is_shown(site: Site) -> None:
    tab = site.stranger()
    tab.page.goto(f"{site.server.base}/#prompt=lines")
    expect(tab.page.locator("#welcome h2")).to_have_text("Open the address that priompt serve printed")
    expect(tab.page.locator("#prompts li")).to_have_count(0)
    tab.page.get_by_label("Address or token").fill(site.server.address)
    tab.page.get_by_role("button", name="Use it").click()
    expect(tab.page.locator("#text")).to_contain_text("required")


# ------------------------------------------------------------------------------------------ safety


def test_markup_is_text_everywhere(site: Site) -> None:
    tab = site.open("evil", limit=400)
    expect(tab.page.locator("#text")).to_contain_text(EVIL)
    expect(tab.page.locator("#text")).to_contain_text("◌reversed␛[31m◌")
    tab.piece("reversed").click()
    expect(tab.page.locator("#inspector")).to_contain_text(EVIL[:20])
    for name in ("Costs", "Props", "Answer", "Request", "Compare"):
        tab.tab(name)
    tab.panel("compare").get_by_role("button", name="Keep this one").click()
    tab.limit(50)
    tab.tab("Answer").get_by_label("Text of the answer").fill(EVIL)
    tab.panel("answer").get_by_role("button", name="Give it to the handlers").click()
    expect(tab.panel("answer")).to_contain_text(json.dumps(EVIL)[:30])
    assert tab.page.locator("img, iframe, main script").count() == 0
    assert tab.page.title() == "evil · priompt"


def test_the_page_keeps_to_its_policy(site: Site) -> None:
    """No inline script, style or markup from text: each would be a complaint, which fails every test here."""
    tab = site.open("lines")
    expect(tab.page.locator("#text")).to_contain_text("required")
    told: Any = tab.page.evaluate(
        """() => {
          const element = document.createElement("p");
          try { element.innerHTML = "<b>x</b>"; return "taken"; } catch (error) { return error.name; }
        }"""
    )
    assert told == "TypeError"
    assert "TrustedHTML" in tab.complaints.pop()
    assert tab.complaints == []


# ------------------------------------------------------------------------------------------ accessibility and layout

LOOKS = [(360, 740, "light"), (360, 740, "dark"), (1024, 768, "dark"), (1920, 1080, "light")]


@pytest.mark.parametrize(("width", "height", "scheme"), LOOKS)
def test_axe_finds_nothing(site: Site, width: int, height: int, scheme: str) -> None:
    tab = site.open("support", width=width, height=height, scheme=scheme, limit=500)
    expect(tab.page.locator("#chart .line")).to_have_attribute("d", re.compile("^M"))
    found: dict[str, list[str]] = {}
    for name in ("Elements", "Costs", "Props", "Answer", "Request", "Compare"):
        tab.tab(name)
        if name == "Compare":
            tab.panel("compare").get_by_role("button", name="Keep this one").click()
            expect(tab.panel("compare")).to_contain_text("Both are sent alike.")
            tab.limit(400)
            expect(tab.panel("compare").locator(".excerpt").first).to_be_visible()
        found[name] = faults(tab)
        assert tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
    tab.page.keyboard.press("?")
    found["help"] = faults(tab)
    assert not any(found.values()), found


def test_axe_finds_nothing_in_an_error(site: Site) -> None:
    tab = site.open("raises")
    expect(tab.page.get_by_role("alert")).to_be_visible()
    assert faults(tab) == []


def test_a_phone_shows_one_thing_at_a_time(site: Site) -> None:
    tab = site.open("support", width=360, height=740)
    expect(tab.page.locator("#text")).to_be_visible()
    expect(tab.page.locator("#tree")).to_be_hidden()
    tab.tab("Elements")
    expect(tab.page.locator("#tree")).to_be_visible()
    expect(tab.page.locator("#text")).to_be_hidden()
    expect(tab.page.locator("#sidebar")).not_to_be_in_viewport()
    menu = tab.page.locator("#menu")
    menu.click()
    expect(menu).to_have_attribute("aria-expanded", "true")
    tab.page.locator("#prompts button.prompt").filter(has_text="lines").click()
    expect(menu).to_have_attribute("aria-expanded", "false")
    tab.page.get_by_role("tab", name="Prompt").click()
    expect(tab.page.locator("#text")).to_contain_text("required")
    tab.page.set_viewport_size({"width": 1280, "height": 800})
    expect(tab.page.locator("#tree")).to_be_visible()
