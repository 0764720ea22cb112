"""The text, the tree, the bar, the curve and the figures follow the sliders, and each other."""

from __future__ import annotations

from typing import Any

import pytest

from tests.web.browser.site import Site, expect

pytestmark = pytest.mark.browser


def test_a_prompt_is_chosen(site: Site) -> None:
    tab = site.open()
    expect(tab.page.locator("#crumb")).to_have_text("support")
    tab.page.locator("#prompts button.prompt").filter(has_text="lines").click()
    expect(tab.page.locator("#crumb")).to_have_text("lines")
    expect(tab.page.locator("#text")).to_contain_text("required high middle low")
    assert [tab.figure(name) for name in ("used", "reserved", "free")] == ["4", "2", "6"]


def test_a_dump_is_chosen(site: Site) -> None:
    tab = site.open("support")
    shown = tab.page.locator("#prompts li.current .example")
    expect(shown).to_have_count(3)  # the first dump is an example too
    tab.page.get_by_role("button", name="example01").click()
    expect(tab.page.locator("#text")).to_contain_text("Ann asks: Where is it?")
    assert "Done 👍" not in tab.text_in
    shown.nth(1).click()  # the newest
    expect(tab.page.locator("#text")).to_contain_text("Zoë asks: Who are you?")
    editor = tab.tab("Props").locator("textarea")
    expect(editor).to_have_value('{\n  "question": "Who are you?",\n  "name": "Zoë"\n}')


def test_everything_follows_the_limit(site: Site) -> None:
    tab = site.open("lines")
    chart = tab.page.locator("#chart svg")
    expect(chart).to_have_attribute(
        "aria-label",
        "What each of 4 levels costs: 3 tokens for what is required, 6 with everything.",
    )
    found: list[Any] = []
    for limit in (12, 6, 5, 4, 3):
        tab.limit(limit)
        found.append((limit, tab.text_in, tab.figure("used"), tab.figure("free"), tab.cutoff))
        outs = [
            name
            for name in ("high", "middle", "low")
            if "out" in str(tab.line(name).get_attribute("class")).split()
        ]
        found.append(outs)
    assert found == [
        (12, "required high middle low", "4", "6", "10"),
        [],
        (6, "required high middle low", "4", "0", "10"),
        [],
        (5, "required high middle", "3", "0", "20"),
        ["low"],
        (4, "required high", "2", "0", "30"),
        ["middle", "low"],
        (3, "required", "1", "0", "required"),
        ["high", "middle", "low"],
    ]
    cutoff = tab.page.locator("#chart .cutoff-line").get_attribute("d")
    bar = tab.page.locator("#budget-bar .used").evaluate("(bar) => bar.style.width")
    end = int(str(tab.page.locator("#limit").get_attribute("max")))
    assert (cutoff or "").startswith("M0 1H")  # the highest level is at the top
    assert bar == f"{100 / end:g}%" or abs(float(bar.rstrip("%")) - 100 / end) < 0.01


def test_too_little_is_told_with_what_it_needs(site: Site) -> None:
    tab = site.open("lines")
    tab.limit(1)
    expect(tab.page.locator("#fits")).to_have_text("Too long for this limit. It needs 3.")
    assert tab.figure("free") == "−2"
    tab.limit(3)
    expect(tab.page.locator("#fits")).to_have_text("")


def test_the_cutoff_has_a_slider(site: Site) -> None:
    tab = site.open("lines")
    level = tab.page.locator("#level")
    expect(level).to_have_attribute("aria-valuetext", "10, level 4 of 4")
    level.fill("1")
    tab.at(4)
    assert (tab.text_in, tab.cutoff) == ("required high", "30")
    level.fill("0")
    tab.at(3)
    assert (tab.text_in, tab.cutoff) == ("required", "required")


def test_a_limit_can_be_typed_and_picked_in_the_curve(site: Site) -> None:
    tab = site.open("support")
    number = tab.page.locator("#limit-number")
    number.fill("420")
    expect(tab.page.locator("#limit")).to_have_value("420")
    expect(number).to_have_value("420")
    number.fill("")
    number.fill("-3")
    expect(tab.page.locator("#limit")).to_have_value("420")
    number.blur()
    box = tab.page.locator("#chart").bounding_box()
    assert box is not None
    end = int(str(tab.page.locator("#limit").get_attribute("max")))
    tab.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 10)
    expect(number).not_to_have_value("420")
    assert abs(int(number.input_value()) - end / 2) < end / 50


def test_what_is_out_is_hatched_in_place_or_hidden(site: Site) -> None:
    tab = site.open("lines", limit=4)
    expect(tab.page.locator("#text .piece.out")).to_have_text([" middle", " low"])
    expect(tab.piece("middle")).to_be_visible()
    tab.page.get_by_label("What is out").uncheck()
    expect(tab.piece("middle")).to_be_hidden()
    expect(tab.piece("high")).to_be_visible()


def test_pointing_at_text_shows_its_element_and_back(site: Site) -> None:
    tab = site.open("support", limit=600)
    tab.piece("# Lights").hover()
    expect(tab.line("lights")).to_have_class("line hovered")
    assert tab.marked("hovered").startswith("# Lights\n")
    said = tab.page.locator("#inspector")
    expect(said).to_contain_text("priority 700")
    expect(said).to_contain_text("root > 8:user > 0:scope[name=lights] > 0:text")
    expect(said).to_contain_text("in at limits from")
    tab.line("turn 3").hover()
    assert tab.marked("hovered") == "Done 👍 and the light is green."
    expect(said).to_contain_text("turn 3")
    tab.page.mouse.move(5, 5)
    expect(said).to_have_text("Point at a text or an element to see where it comes from.")
    assert tab.marked("hovered") == ""


def test_picking_an_element_shows_its_text(site: Site) -> None:
    tab = site.open("support", height=500)
    tab.page.locator("#find").fill("screw 12 ")
    expect(tab.page.locator("#found")).to_have_text("1 element")
    tab.page.locator("#tree .line").last.click()
    expect(tab.piece("screw 12 ")).to_be_in_viewport()
    assert tab.marked("picked") == "Step 12: turn screw 12 to the left.\n"
    tab.page.locator("#find").fill("")
    tab.page.locator("#text").evaluate("(text) => (text.scrollTop = 0)")
    tab.piece("Be brief").click()
    expect(tab.page.locator("#tree [aria-selected=true]")).to_contain_text("style")
    tab.page.keyboard.press("Escape")
    assert tab.marked("picked") == ""


def test_why_something_is_out_is_told(site: Site) -> None:
    tab = site.open("lines", limit=4)
    tab.line("low").click()
    said = tab.page.locator("#inspector")
    expect(said).to_contain_text("out")
    expect(said).to_contain_text("in at limits from 6")


def test_token_boundaries(site: Site) -> None:
    tab = site.open("lines", limit=12)
    tab.page.get_by_label("Token boundaries").check()
    expect.set_options(timeout=5_000)
    expect(tab.page.locator("#text")).to_have_class("with-tokens")
    tab.page.wait_for_timeout(200)
    assert (tab.marked("token-a"), tab.marked("token-b")) == ("required| middle", " high| low")
    tab.limit(4)
    tab.page.wait_for_timeout(500)
    assert (tab.marked("token-a"), tab.marked("token-b")) == ("required", " high")


def test_the_lower_part_of_the_scale_can_be_shown(site: Site) -> None:
    tab = site.open("lines", limit=2)
    zoom = tab.page.get_by_role("button", name="Zoom in")
    expect(zoom).to_be_hidden()  # there is nothing to gain
    tab = site.open("support", limit=200)
    slider = tab.page.locator("#limit")
    expect(slider).to_have_attribute("max", "780")
    tab.page.get_by_role("button", name="Zoom in").click()
    expect(slider).to_have_attribute("max", "400")
    expect(slider).to_have_value("200")
    tab.page.get_by_role("button", name="Whole scale").click()
    expect(slider).to_have_attribute("max", "780")


def test_a_long_text_comes_whole_on_demand(site: Site) -> None:
    tab = site.open("long")
    text = tab.page.locator("#text .piece").first
    more = tab.page.get_by_role("button", name="10,000 more characters")
    expect(more).to_be_visible()
    assert text.evaluate("(piece) => piece.textContent.length") == 20_000
    more.click()
    expect(more).to_be_hidden()
    assert text.evaluate("(piece) => piece.textContent.length") == 30_000


def test_limits_may_depend_on_the_limit(site: Site) -> None:
    tab = site.open("long")
    expect(tab.line("share")).to_be_visible()
    tab.line("share").click()
    expect(tab.page.locator("#inspector")).to_contain_text("tokens")
    tab.limit(6_000)
    assert "ten per cent" in tab.text_in
    tab.limit(1)
    expect(tab.page.locator("#fits")).to_contain_text("Too long for this limit.")


def test_a_move_takes_less_than_100_ms_at_10_000_scopes(site: Site) -> None:
    tab = site.open("big")
    expect(tab.page.locator("body")).to_have_attribute("data-state", "view", timeout=60_000)
    times: list[float] = tab.page.evaluate(
        """async () => {
          const slider = document.querySelector("#limit");
          const end = Number(slider.max);
          const times = [];
          for (let n = 0; n < 25; n++) {
            slider.value = String(Math.round(end * (n % 2 ? 0.1 + n / 60 : 0.95 - n / 60)));
            const shown = new Promise((resolve) => {
              const watcher = new MutationObserver(() => (watcher.disconnect(), resolve()));
              watcher.observe(slider, { attributes: true, attributeFilter: ["aria-valuetext"] });
            });
            const begun = performance.now();
            slider.dispatchEvent(new Event("input"));
            await shown;
            await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
            times.push(performance.now() - begun);
          }
          return times.sort((a, b) => a - b);
        }"""
    )
    assert times[len(times) // 2] < 100, times
