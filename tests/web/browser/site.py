"""The served site and the page in Chromium: how the tests open it and read it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import attrs
from playwright.sync_api import Browser, BrowserContext, Locator, Page, Request, expect

from tests.web.asking import Running

__all__ = ["CHROMIUM", "Site", "Tab", "expect"]

CHROMIUM = "/usr/bin/chromium"  # Debian's: Playwright would download one of its own


@attrs.define(eq=False)
class Tab:
    """A page in Chromium; what it complained of, and the hosts that it asked."""

    page: Page
    complaints: list[str]
    hosts: set[str]

    # -- reading ------------------------------------------------------------------------------

    def figure(self, name: str) -> str:
        """A figure of the budget: ``used``, ``reserved``, ``free``."""
        return self.page.locator(f"#count-{name}").inner_text()

    @property
    def cutoff(self) -> str:
        return self.page.locator("#cutoff-value").inner_text()

    @property
    def text_in(self) -> str:
        """The text that is in, as the page shows it."""
        pieces: Any = self.page.evaluate(
            "[...document.querySelectorAll('#text .piece:not(.out)')].map((piece) => piece.textContent)"
        )
        return "".join(pieces)

    def piece(self, text: str) -> Locator:
        return self.page.locator("#text .piece").filter(has_text=text).first

    def line(self, name: str) -> Locator:
        """A line of the tree, by the label of its element."""
        return self.page.locator("#tree .line").filter(has=self.page.get_by_text(name, exact=True)).first

    def panel(self, name: str) -> Locator:
        return self.page.locator(f"#panel-{name}")

    def marked(self, name: str) -> str:
        """The text under a mark: ``hovered``, ``picked``, ``difference``, ``token-a``, ``token-b``."""
        told: Any = self.page.evaluate(
            """(name) => [...(CSS.highlights.get(name) ?? [])].map((range) => {
              if (range instanceof Range) return range.toString();
              return range.startContainer.data.slice(range.startOffset, range.endOffset);
            }).join("|")""",
            name,
        )
        return str(told)

    # -- doing --------------------------------------------------------------------------------

    def tab(self, name: str) -> Locator:
        """Show a panel."""
        self.page.get_by_role("tab", name=name, exact=True).click()
        return self.panel(name.lower())

    def limit(self, tokens: int) -> None:
        """Slide to a limit, and wait until the page shows it."""
        slider = self.page.locator("#limit")
        slider.fill(str(tokens))
        self.at(tokens)

    def at(self, tokens: int) -> None:
        """Wait until the page shows a limit."""
        expect(self.page.locator("#limit-number")).to_have_value(str(tokens))
        told = re.compile(f"^{tokens:,} tokens, ")
        expect(self.page.locator("#limit")).to_have_attribute("aria-valuetext", told)


@attrs.define(eq=False)
class Site:
    """``priompt serve`` with the prompts of ``shown.py``."""

    browser: Browser
    server: Running
    tabs: list[Tab] = attrs.field(factory=list[Tab])
    contexts: list[BrowserContext] = attrs.field(factory=list[BrowserContext])

    def address(self, place: Mapping[str, object], *, token: bool = True) -> str:
        given = {"token": self.server.token, **place} if token else place
        return f"{self.server.base}/#{urlencode(given)}"

    def open(
        self,
        prompt: str | None = None,
        *,
        width: int = 1280,
        height: int = 800,
        scheme: Any = "light",
        wait: bool = True,
        **place: object,
    ) -> Tab:
        """A page of its own, with nothing kept from others."""
        context = self.browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce"
        )
        context.set_default_timeout(15_000)
        self.contexts.append(context)
        tab = self.tab_of(context)
        if prompt is not None:
            place = {"prompt": prompt, **place}
        tab.page.goto(self.address(place))
        if wait:
            expect(tab.page.locator("body[data-state]")).to_be_attached(timeout=15_000)
        return tab

    def stranger(self) -> Tab:
        """A page of a browser that has never been here."""
        context = self.browser.new_context()
        self.contexts.append(context)
        return self.tab_of(context)

    def tab_of(self, context: BrowserContext) -> Tab:
        page = context.new_page()
        tab = Tab(page, [], set())
        self.tabs.append(tab)

        def asked(request: Request) -> None:
            tab.hosts.add(request.url.split("/")[2] if "//" in request.url else request.url.split(":")[0])

        page.on("request", asked)
        page.on("pageerror", lambda error: tab.complaints.append(str(error)))
        page.on(
            "console",
            lambda message: (
                tab.complaints.append(message.text)
                if message.type in ("error", "warning") and "the server responded with" not in message.text
                else None
            ),
        )
        return tab
