from __future__ import annotations

import pytest

from priompt_py.testing.oracle import oracle_render
from tests.engine.example import Example, arguments
from tests.engine.examples import EXAMPLES


@pytest.mark.parametrize("example", EXAMPLES, ids=[example.name for example in EXAMPLES])
def test_oracle_agrees_with_figures_by_hand(example: Example) -> None:
    if example.error is not None:
        with pytest.raises(example.error):
            oracle_render(example.tree, **arguments(example))
        return
    found = oracle_render(example.tree, **arguments(example))
    if found.messages is None:
        assert found.text is not None
        assert found.text.text == example.comes_to
    else:
        assert [(message.role, message.text) for message in found.messages] == example.comes_to
    assert found.cutoff == example.cutoff
    assert example.count in (None, found.token_count)
