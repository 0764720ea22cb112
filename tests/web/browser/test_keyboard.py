"""Everything can be reached and done with the keyboard alone."""

from __future__ import annotations

import pytest

from tests.web.browser.site import Site, Tab, expect

pytestmark = pytest.mark.browser


def press(tab: Tab, *keys: str) -> None:
    for key in keys:
        tab.page.keyboard.press(key)


def focused(tab: Tab) -> str:
    """The id of what has the focus, or its text."""
    return str(
        tab.page.evaluate("""() => {
      const { activeElement } = document;
      return activeElement === document.body ? "body" : activeElement.id || activeElement.textContent.trim();
    }""")
    )


def test_the_limit_and_the_cutoff_move_by_keys(site: Site) -> None:
    tab = site.open("lines", limit=6)
    press(tab, "l")
    assert focused(tab) == "limit"
    press(tab, "ArrowLeft")
    tab.at(5)
    press(tab, "Shift+ArrowLeft", "Shift+ArrowLeft")
    tab.at(3)
    press(tab, "PageUp")
    tab.at(8)
    press(tab, "Escape", "[")
    tab.at(5)
    press(tab, "[")
    tab.at(4)
    press(tab, "]", "]")
    tab.at(6)


def test_tab_goes_through_the_page_and_shows_where_it_is(site: Site) -> None:
    tab = site.open("lines")
    expect(tab.page.locator("#text")).to_contain_text("required")
    seen: list[str] = []
    for _ in range(60):
        press(tab, "Tab")
        seen.append(focused(tab))
        if seen[-1] == "body":
            break
        outline = tab.page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none", seen[-1]
    wanted = ["skip", "theme", "help-open", "filter", "limit-number", "level", "limit", "show-out", "text"]
    assert [name for name in seen if name in wanted] == wanted
    assert {"tab-elements", "find", "tree"} <= set(seen)


def test_skip_goes_to_the_prompt(site: Site) -> None:
    tab = site.open("lines")
    expect(tab.page.locator("#text")).to_contain_text("required")
    press(tab, "Tab", "Enter")
    assert focused(tab) == "text"


def test_prompts_are_chosen_by_keys(site: Site) -> None:
    tab = site.open("support")
    press(tab, "/")
    assert focused(tab) == "filter"
    tab.page.keyboard.type("lin")
    press(tab, "ArrowDown", "Enter")
    expect(tab.page.locator("#crumb")).to_have_text("lines")
    press(tab, "ArrowUp")
    assert focused(tab) == "filter"


def test_the_tree_is_walked_by_keys(site: Site) -> None:
    tab = site.open("support")
    expect(tab.page.locator("#tree .line").first).to_be_visible()
    selected = tab.page.locator("#tree [aria-selected=true]")
    press(tab, "e", "ArrowDown")
    expect(selected).to_contain_text("system")
    press(tab, "ArrowRight")
    expect(selected).to_contain_text("Answer from the manual")
    press(tab, "ArrowDown")
    expect(selected).to_contain_text("style")
    assert tab.marked("picked") == "Be brief.\n"
    row = str(selected.get_attribute("id"))
    expect(tab.page.locator("#tree")).to_have_attribute("aria-activedescendant", row)
    press(tab, "ArrowLeft", "ArrowLeft")
    expect(selected).to_have_attribute("aria-expanded", "false")
    press(tab, "ArrowRight")
    expect(selected).to_have_attribute("aria-expanded", "true")
    press(tab, "End")
    expect(selected).to_contain_text("capture")
    press(tab, "Home")
    expect(selected).to_contain_text("system")


def test_elements_of_the_text_are_walked_by_keys(site: Site) -> None:
    tab = site.open("lines")
    expect(tab.page.locator("#text")).to_contain_text("required")
    press(tab, "j", "j")
    assert tab.marked("picked") == " high"
    press(tab, "k")
    assert tab.marked("picked") == "required"
    press(tab, "Escape")
    assert tab.marked("picked") == ""


def test_switches_and_panels_have_keys(site: Site) -> None:
    tab = site.open("lines")
    press(tab, "o", "t")
    expect(tab.page.get_by_label("What is out")).not_to_be_checked()
    expect(tab.page.get_by_label("Token boundaries")).to_be_checked()
    press(tab, "p")
    assert focused(tab) == "props-editor"
    tab.page.keyboard.type("o")  # a letter in a field is a letter
    expect(tab.page.get_by_label("What is out")).not_to_be_checked()
    tab.page.get_by_role("tab", name="Props").focus()
    press(tab, "ArrowRight")
    assert focused(tab) == "tab-answer"
    press(tab, "End")
    assert focused(tab) == "tab-compare"


def test_help_tells_the_keys_and_can_switch_them_off(site: Site) -> None:
    tab = site.open("lines")
    press(tab, "?")
    expect(tab.page.get_by_role("dialog", name="Keys and signs")).to_be_visible()
    tab.page.get_by_label("Keys of one letter").uncheck()
    press(tab, "Escape")
    expect(tab.page.get_by_role("dialog")).to_be_hidden()
    press(tab, "o")
    expect(tab.page.get_by_label("What is out")).to_be_checked()
