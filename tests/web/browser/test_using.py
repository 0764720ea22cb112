"""What a person does with a prompt: other props, answers, requests, comparisons; and what stays."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.web.asking import Running
from tests.web.browser.conftest import SHOWN
from tests.web.browser.site import Site, Tab, expect

pytestmark = pytest.mark.browser


# ------------------------------------------------------------------------------------------ props


def test_props_are_edited_and_rendered(site: Site) -> None:
    tab = site.open("support")
    panel = tab.tab("Props")
    panel.get_by_role("button", name="turns").click()
    editor = panel.locator("textarea")
    expect(editor).to_have_value('{\n  "turns": 6\n}')
    editor.fill('{"turns": 1, "name": "Zoë"}')
    expect(panel.get_by_role("status")).to_have_text("Edited, not rendered yet.")
    editor.press("Control+Enter")
    expect(tab.page.locator("#text")).to_contain_text("Zoë asks: What does that mean?")
    assert "Welcome!" not in tab.text_in
    editor.fill('{"turns": ')
    expect(panel.get_by_role("status")).to_contain_text("No JSON yet:")
    expect(panel.get_by_role("button", name="Render")).to_be_disabled()
    panel.get_by_role("button", name="Reset").click()
    expect(tab.page.locator("#text")).to_contain_text("Ann asks: What does that mean?")
    expect(editor).to_have_value("{}")


def test_another_tokenizer_counts(site: Site) -> None:
    tab = site.open("support")
    before = tab.figure("used")
    tab.tab("Props").get_by_label("Count with").select_option("cl100k_base")
    expect(tab.page.locator("#count-used")).not_to_have_text(before)


# ------------------------------------------------------------------------------------------ answers


def test_an_answer_goes_to_the_handlers(site: Site) -> None:
    tab = site.open("support")
    panel = tab.tab("Answer")
    expect(panel).to_contain_text("The prompt hears answers by on_output, search.")
    panel.get_by_label("Text of the answer").fill("It is being updated.")
    panel.get_by_text("Tool calls", exact=True).click()
    panel.get_by_role("button", name="+ search").click()
    calls = panel.get_by_label("Tool calls, as JSON")
    expect(calls).to_have_value(
        json.dumps([{"id": "call_1", "name": "search", "arguments": {"query": ""}}], indent=2)
    )
    panel.get_by_role("button", name="Give it to the handlers").click()
    expect(panel.get_by_role("heading", name="Handlers")).to_be_visible()
    expect(panel).to_contain_text('"answer": "It is being updated."')
    expect(panel).to_contain_text("found nothing for ")
    calls.fill("{")
    panel.get_by_role("button", name="Give it to the handlers").click()
    expect(panel).to_contain_text("The tool calls are no JSON list:")


def test_an_answer_goes_in_pieces(site: Site) -> None:
    tab = site.open("streamed")
    panel = tab.tab("Answer")
    panel.get_by_label("Text of the answer").fill("one two three four")
    panel.get_by_label("In pieces, as a stream").check()
    panel.get_by_label("Text of the answer").press("Control+Enter")
    expect(panel).to_contain_text("on_stream of capture 1 returned")
    expect(panel.locator("pre").first).to_have_text('"True"')


# ------------------------------------------------------------------------------------------ requests and costs


def test_requests_are_shown_and_copied(site: Site) -> None:
    tab = site.open("lines", limit=4)
    tab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    panel = tab.tab("Request")
    shown = panel.locator("pre")
    expect(shown).to_contain_text('"content": "required high"')
    panel.get_by_label("Request for").select_option("anthropic")
    expect(shown).to_contain_text('"max_tokens": ')
    panel.get_by_label("Request for").select_option("text")
    expect(shown).to_have_text("required high")
    panel.get_by_role("button", name="Copy").click()
    expect(tab.page.locator("#toast")).to_have_text("Copied.")
    copied = str(tab.page.evaluate("navigator.clipboard.readText()"))
    assert copied == shown.inner_text()
    tab.limit(3)
    expect(shown).not_to_contain_text("high")


def test_costs_name_the_largest_parts(site: Site) -> None:
    tab = site.open("support")
    panel = tab.tab("Costs")
    expect(panel.locator(".bar").first).to_contain_text("excerpt in manual")
    panel.locator(".bar").first.click()
    assert "Step 30:" in tab.marked("picked")


# ------------------------------------------------------------------------------------------ comparing


def test_two_limits_are_compared(site: Site) -> None:
    tab = site.open("lines", limit=6)
    panel = tab.tab("Compare")
    panel.get_by_role("button", name="Keep this one").click()
    expect(panel).to_contain_text("Both are sent alike.")
    tab.limit(4)
    expect(panel).to_contain_text("Before that they share 2 tokens.")
    expect(panel.locator(".excerpt").first).to_contain_text("required high middle low")
    expect(panel.locator(".excerpt mark").first).to_have_text(" middle low")
    expect(panel.locator(".excerpt").last).to_have_text("B ends here.")
    expect(panel.get_by_role("heading", name="Only in A · 2")).to_be_visible()
    expect(panel.locator(".only .bar")).to_contain_text(["middle", "low"])
    panel.get_by_role("button", name="Forget it").click()
    expect(panel.locator(".excerpt")).to_have_count(0)


def test_two_dumps_are_compared_and_the_difference_is_marked(site: Site) -> None:
    tab = site.open("support", example="example01")
    panel = tab.tab("Compare")
    panel.get_by_role("button", name="Keep this one").click()
    tab.page.locator("#prompts li.current .example").nth(1).click()
    expect(tab.page.locator("#text")).to_contain_text("Zoë asks")
    expect(panel).to_contain_text("They part:")
    expect(panel.locator(".excerpt")).to_have_count(2)


# ------------------------------------------------------------------------------------------ what stays


def where(tab: Tab) -> tuple[str, str, str]:
    chosen = tab.page.get_by_role("tab", selected=True).inner_text()
    return tab.page.locator("#crumb").inner_text(), tab.page.locator("#limit-number").input_value(), chosen


def test_a_reload_keeps_what_is_shown(site: Site) -> None:
    tab = site.open("support", example="example01", limit=500)
    panel = tab.tab("Props")
    panel.locator("textarea").fill('{"question": "Still here?"}')
    panel.get_by_role("button", name="Render").click()
    expect(tab.page.locator("#text")).to_contain_text("Still here?")
    tab.limit(620)
    tab.page.wait_for_timeout(400)
    assert "token" not in tab.page.url
    tab.page.reload()
    expect(tab.page.locator("#text")).to_contain_text("Still here?")
    assert where(tab) == ("support · example01", "620", "Props")


def test_two_tabs_do_not_disturb_each_other(site: Site) -> None:
    one = site.open("support", limit=600)
    other = site.tab_of(one.page.context)
    other.page.goto(site.address({"prompt": "lines", "limit": 4}, token=False))
    expect(other.page.locator("#text")).to_contain_text("required")
    one.limit(500)
    other.limit(5)
    assert [where(tab)[:2] for tab in (one, other)] == [("support", "500"), ("lines", "5")]
    one.page.reload()
    expect(one.page.locator("#limit-number")).to_have_value("500")


def test_appearance_is_kept(site: Site) -> None:
    tab = site.open("lines")
    button = tab.page.locator("#theme")
    for name in ("light", "dark"):
        button.click()
        expect(button).to_have_attribute("aria-label", f"Appearance: {name}")
    tab.page.reload()
    expect(tab.page.locator("html")).to_have_attribute("data-theme", "dark")
    background = tab.page.locator("body").evaluate(
        "getComputedStyle(document.documentElement).backgroundColor"
    )
    assert background == "rgb(18, 20, 23)"


def test_a_changed_file_is_rendered_anew(site: Site, tmp_path: Path) -> None:
    shutil.copy(SHOWN, tmp_path / "shown.py")
    server = Running(tmp_path, "--module", "shown.py")
    try:
        own = Site(site.browser, server, site.tabs, site.contexts)
        tab = own.open("lines", limit=5)
        expect(tab.page.locator("#text")).to_contain_text("required high middle")
        text = SHOWN.read_text("utf-8").replace('[" middle"]', '[" central"]')
        (tmp_path / "shown.py").write_text(text, "utf-8")
        expect(tab.page.locator("#text")).to_contain_text("required high central", timeout=15_000)
        expect(tab.page.locator("#limit-number")).to_have_value("5")
        tab.hosts.clear()
    finally:
        server.stop()
    expect(tab.page.locator("#working")).to_have_text("The server does not answer; trying again…")
    tab.complaints.clear()  # refused connections
