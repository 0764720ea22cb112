"""The functions and filters that every template has. A filter is a function that gets the value first."""

from __future__ import annotations

from priompt_py.template import functions_of_data, functions_of_text
from priompt_py.template.builtin import BUILTINS, Builtin, Context

__all__ = ["BUILTINS", "MODULES", "Builtin", "Context"]

MODULES = (functions_of_data, functions_of_text)
"""Where they are; to import one is to make its functions."""
