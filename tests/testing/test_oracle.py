from __future__ import annotations

import pytest

from priompt_py.errors import PromptError
from priompt_py.testing.oracle import oracle_render
from tests.engine.examples import EXAMPLES, Example, arguments


@pytest.mark.parametrize("example", EXAMPLES, ids=[example.name for example in EXAMPLES])
def test_oracle_agrees_with_figures_by_hand(example: Example) -> None:
    try:
        found = oracle_render(example.tree, **arguments(example))
    except PromptError as error:
        assert type(error).__name__ == example.comes_to
        return
    if found.messages is None:
        assert found.text is not None
        assert found.text.text == example.comes_to
    else:
        assert [(message.role, message.text) for message in found.messages] == example.comes_to
    assert found.cutoff == example.cutoff
    assert example.count in (None, found.token_count)
