"""What `priompt_py.context` offers."""

from __future__ import annotations

import subprocess
import sys

import pytest

import priompt_py.context
from priompt_py.context import protocols


def test_all_names_are_there() -> None:
    names = priompt_py.context.__all__
    assert len(set(names)) == len(names)
    for name in names:
        assert getattr(priompt_py.context, name).__module__.startswith("priompt_py.context") or name in (
            "WORDING", "Part", "Pass",
        )  # fmt: skip
    with pytest.raises(AttributeError, match="has no attribute 'prunes'"):
        getattr(priompt_py.context, "prunes")  # noqa: B009 - the type checkers know that it isn't there
    assert protocols.Loader.__name__ == "Loader"


@pytest.mark.parametrize("name", priompt_py.context.__all__)
def test_no_module_hides_a_name(name: str) -> None:
    """A name that a module of the room has too would be the module, once that is imported."""
    from importlib.util import find_spec

    assert find_spec(f"priompt_py.context.{name}") is None


def test_the_room_imports_little() -> None:
    code = (
        "import sys, priompt_py.context as c; before = set(sys.modules); c.Message('a', 'user', 'x');"
        "print(sorted({n.split('.')[0] for n in sys.modules} & {'snowballstemmer', 'tiktoken_ext', 'asyncio', 'numpy'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
