"""axe-core, put into a page as it is."""

from __future__ import annotations

import importlib.resources
from typing import Any

from tests.web.browser.site import Tab

__all__ = ["faults"]

AXE = (importlib.resources.files("axe_playwright_python") / "axe.min.js").read_text("utf-8")


def faults(tab: Tab) -> list[str]:
    """What axe-core finds in the page as it is, best practices too."""
    tab.page.evaluate(AXE)
    found: Any = tab.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{one['id']}: {node['target']} {node['failureSummary']}"
        for one in found["violations"]
        for node in one["nodes"]
    ]
