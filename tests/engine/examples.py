"""Small prompts with what they come to, worked out by hand from the specification's text.

A character is a token and messages cost nothing, where an example does not say otherwise.
"""

from __future__ import annotations

from tests.engine.examples_levels import COUNTS, FIRSTS, PRIORITIES
from tests.engine.examples_limits import LIMITS
from tests.engine.examples_structure import RIGHT_STRUCTURE, TOOLS, WRONG_STRUCTURE

EXAMPLES = [*PRIORITIES, *FIRSTS, *LIMITS, *COUNTS, *TOOLS, *WRONG_STRUCTURE, *RIGHT_STRUCTURE]
