"""The preview in a browser: ``preview_app()`` for one's own server, and what ``priompt serve`` runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from priompt_py.web.app import PreviewApp, preview_app

__all__ = ["PreviewApp", "preview_app"]


def __getattr__(name: str) -> object:
    # Processes that only run prompts import modules of this folder too, and need no server.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from priompt_py.web import app

    return getattr(app, name)
