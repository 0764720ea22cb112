"""Callbacks on random prompts: each once, for the right fate, in document order."""

from __future__ import annotations

from typing import Any

import attrs
from hypothesis import given
from hypothesis import strategies as st

from priompt_py import PromptError, compile_prompt, render
from priompt_py.author.children import spread
from priompt_py.model.elements import Child, Container, Element, First, Node, Scope
from priompt_py.testing.oracle import oracle_render
from priompt_py.testing.strategies import chats, prompts
from priompt_py.testing.tokenizers import CharTokenizer

CHARS = CharTokenizer()


@attrs.define
class Recorder:
    """What was called: for each call, the element's number in order of the tree's making."""

    included: list[int] = attrs.field(factory=list[int])
    ejected: list[int] = attrs.field(factory=list[int])
    numbers: dict[int, int] = attrs.field(factory=dict[int, int])  # id of a hooked element -> its number
    kept: list[Element] = attrs.field(factory=list[Element])  # so that no id is used again

    def hooked(self, tree: list[Node]) -> Node:
        """``tree`` with callbacks on every scope and first; what was shared stays shared."""
        done: dict[int, Child] = {}
        return [self._hooked(child, done) for child in spread(tree, "root")]

    def _hooked(self, node: Child, done: dict[int, Child]) -> Child:
        if not isinstance(node, Container):
            return node
        if id(node) not in done:
            changes: dict[str, Any] = {
                "children": tuple(self._hooked(child, done) for child in node.children)
            }
            number = len(self.kept)
            if isinstance(node, (Scope, First)):
                changes["on_include"] = lambda: self.included.append(number)
                changes["on_eject"] = lambda: self.ejected.append(number)
            made = attrs.evolve(node, **changes)
            self.kept += [node, made]
            self.numbers[id(made)] = number
            done[id(node)] = made
        return done[id(node)]

    def expected(self, fates: Any, *, included: bool) -> list[int]:
        """The numbers that the definition gives."""
        return [
            self.numbers[id(fate.element)]
            for fate in fates
            if isinstance(fate.element, (Scope, First)) and fate.included == included
        ]


@given(prompts() | chats(), st.integers(0, 60))
def test_each_is_called_once_in_document_order(tree: list[Node], limit: int) -> None:
    recorder = Recorder()
    hooked = recorder.hooked(tree)
    try:
        render(hooked, token_limit=limit, tokenizer=CHARS)
    except PromptError:
        assert (recorder.included, recorder.ejected) == ([], [])
        return
    fates = oracle_render(hooked, token_limit=limit, tokenizer=CHARS).fates
    assert recorder.included == recorder.expected(fates, included=True)
    assert recorder.ejected == recorder.expected(fates, included=False)


@given(prompts(), st.integers(0, 60))
def test_none_is_called_where_none_are_asked_for(tree: list[Node], limit: int) -> None:
    recorder = Recorder()
    hooked = recorder.hooked(tree)
    try:
        rendered = render(hooked, token_limit=limit, tokenizer=CHARS, callbacks=False, source_map=True)
        rendered.to_text()
        assert len(rendered.decisions) >= 0
        compile_prompt(hooked).render(token_limit=limit, tokenizer=CHARS)
    except PromptError:
        pass
    assert (recorder.included, recorder.ejected) == ([], [])


@given(prompts(), st.integers(0, 60))
def test_each_render_calls_them_anew(tree: list[Node], limit: int) -> None:
    recorder = Recorder()
    program = compile_prompt(recorder.hooked(tree))
    try:
        program.render(token_limit=limit, tokenizer=CHARS, callbacks=True)
    except PromptError:
        return
    once = (list(recorder.included), list(recorder.ejected))
    program.render(token_limit=limit, tokenizer=CHARS, callbacks=True)
    assert (recorder.included, recorder.ejected) == (once[0] * 2, once[1] * 2)
