"""Asserts of the helper module are to be explained as those of tests are."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("priompt_py.testing.definition")
