from __future__ import annotations

import pytest

from priompt_py import render
from tests.engine.compare import assert_defined
from tests.engine.example import Example, arguments
from tests.engine.examples import EXAMPLES


@pytest.mark.parametrize("example", EXAMPLES, ids=[example.name for example in EXAMPLES])
def test_figures_by_hand(example: Example) -> None:
    if example.error is not None:
        with pytest.raises(example.error):
            render(example.tree, **arguments(example))
        return
    found = render(example.tree, **arguments(example))
    if found.messages is None:
        assert found.text == example.comes_to
    else:
        assert [(message.role, message.text) for message in found.messages] == example.comes_to
    assert found.cutoff == example.cutoff
    assert example.count in (None, found.token_count)


@pytest.mark.parametrize("example", EXAMPLES, ids=[example.name for example in EXAMPLES])
def test_engine_and_oracle_agree(example: Example) -> None:
    assert_defined(example.tree, **arguments(example))
