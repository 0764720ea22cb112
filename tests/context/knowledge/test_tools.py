"""What a model reads when it asks a knowledge base, and when it asks wrongly."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from priompt_py.author.tools import TypedCall
from priompt_py.context import KnowledgeBase, KnowledgeTools
from priompt_py.context.knowledge.tools import is_small_talk
from tests.context.knowledge.stand_ins import WORDS, Failing, Hashed, Later, note, words


@pytest.fixture
def base(tmp_path: Path) -> Iterator[KnowledgeBase]:
    with KnowledgeBase.open(tmp_path / "base.db", chunk_size=4, overlap=0, tokenizer=WORDS) as made:
        made.add([note("rules", "Refunds take thirty days. Shipping takes five days."), note("empty", " ")])
        yield made


@pytest.fixture
def tools(base: KnowledgeBase) -> KnowledgeTools:
    return base.tool_functions()


def test_the_definitions(base: KnowledgeBase) -> None:
    found = {one.name: one for one in base.tools()}
    assert list(found) == ["kb_query", "kb_files", "kb_read", "kb_list"]
    assert {name: list(one.parameters["properties"]) for name, one in found.items()} == {
        "kb_query": ["query"],
        "kb_files": ["ids"],
        "kb_read": ["chunks"],
        "kb_list": ["page"],
    }
    assert found["kb_query"].description == (
        "Search the user's knowledge base for what answers a question; not for greetings, thanks or small talk."
    )
    assert found["kb_read"].parameters["properties"]["chunks"]["type"] == "array"
    call = found["kb_query"].on_call
    assert isinstance(call, TypedCall)
    assert call({"query": "refund"}) == base.tool_functions().kb_query("refund")


def test_a_query(tools: KnowledgeTools) -> None:
    assert tools.kb_query("refund or shipping") == (
        "2 passages found, the best first. kb_read gives what stands around one.\n\n"
        "[rules#0]\nRefunds take thirty days.\n\n"
        "[rules#1]\nShipping takes five days."
    )
    assert tools.kb_query("refund") == (
        "1 passage found, the best first. kb_read gives what stands around one.\n\n"
        "[rules#0]\nRefunds take thirty days."
    )
    assert tools.kb_query("zebra") == "The search found nothing."
    assert tools.kb_query("") == ("The search found nothing.\n(The query is empty: nothing was searched.)")
    assert tools.kb_query(7) == "The search found nothing."  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    "query",
    [
        "hello",
        "Hi there!",
        "thank you very much",
        "Thanks a lot!",
        "How's it going?",
        "Огромное спасибо вам",
        "多谢",
        "What\u2019s up?",
        "Привет, как дела?",
        "Добрый день",
        "你好",
        "谢谢!",
    ],
)
def test_small_talk_is_not_searched(base: KnowledgeBase, query: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("it was searched")

    monkeypatch.setattr(base, "search", refuse)
    assert base.tool_functions().kb_query(query) == (
        "That is small talk, and nothing was searched. Answer it as usual."
    )


@pytest.mark.parametrize(
    "query", ["", "?!", "hello world program", "день поставки", "refund", "你好的退款", "thanks for the fish"]
)
def test_other_queries_are_searched(query: str) -> None:
    assert not is_small_talk(query)


def test_a_failing_embedder_is_told(tmp_path: Path) -> None:
    path = tmp_path / "vectors.db"
    with KnowledgeBase.open(path, Hashed()) as base:
        base.add(note("a", "Refunds take thirty days."))
    with KnowledgeBase.open(path, Failing(RuntimeError("down"))) as base:
        assert base.tool_functions().kb_query("refund") == (
            "1 passage found, the best first. kb_read gives what stands around one.\n\n"
            "[a#0]\nRefunds take thirty days.\n\n"
            "(The embedder failed, so that the search was by words alone: RuntimeError: down.)"
        )


def test_documents(tools: KnowledgeTools, base: KnowledgeBase) -> None:
    assert tools.kb_files(["rules", "nowhere", "empty"]) == (
        "rules: 51 characters, chunks 0 to 1\n"
        "There is no document 'nowhere'.\n"
        "empty: failed: it holds no text"
    )
    base.add(note("one", "word"))
    assert tools.kb_files("one") == "one: 4 characters, chunk 0"  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    assert tools.kb_files([]) == "ids is a list of documents; kb_list gives them."
    assert tools.kb_files(7) == tools.kb_files([])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    answer = tools.kb_files([f"n{n}" for n in range(23)])
    assert answer.count("There is no document") == 20
    assert answer.endswith("\n(3 more documents were asked for; ask again.)")
    base.add(note("one", " "))
    assert tools.kb_files(["one"]) == "one: failed: it holds no text; what it was before can be searched"


def test_chunks_in_the_order_asked_for(tools: KnowledgeTools, base: KnowledgeBase) -> None:
    assert tools.kb_read(["rules#1", "[rules#0]", "rules#1"]) == (
        "[rules#1]\nShipping takes five days.\n\n"
        "[rules#0]\nRefunds take thirty days.\n\n"
        "[rules#1]\nShipping takes five days."
    )
    assert tools.kb_read(["rules#2", "no#0", "rules", "#1", "rules#x", "empty#0", "rules#0"]) == (
        "The document 'rules' has no chunk 2; its chunks are 0 to 1.\n\n"
        "There is no document 'no'.\n\n"
        "'rules' names no chunk; the form is DOCUMENT#NUMBER, numbers from 0.\n\n"
        "'#1' names no chunk; the form is DOCUMENT#NUMBER, numbers from 0.\n\n"
        "'rules#x' names no chunk; the form is DOCUMENT#NUMBER, numbers from 0.\n\n"
        "The document 'empty' can't be read yet: failed.\n\n"
        "[rules#0]\nRefunds take thirty days."
    )
    assert tools.kb_read([]) == "chunks is a list of DOCUMENT#NUMBER, as kb_query names them."
    answer = tools.kb_read(["rules#0"] * 21)
    assert answer.count("Refunds") == 20
    assert answer.endswith("\n\n(1 more chunks were asked for; ask again.)")
    base.add(note("a#b", words(8)))
    assert tools.kb_read(["a#b#1"]) == "[a#b#1]\nw4 w5 w6 w7"


def test_pages(tools: KnowledgeTools, base: KnowledgeBase, tmp_path: Path) -> None:
    assert tools.kb_list() == (
        "2 documents, page 0 of 0 to 0:\nempty: failed: it holds no text\nrules: 51 characters, chunks 0 to 1"
    )
    base.add([note(f"z{n:02}", "text") for n in range(40)])
    answer = tools.kb_list(2)
    assert answer.split("\n") == [
        "42 documents, page 2 of 0 to 2:",
        "z38: 4 characters, chunk 0",
        "z39: 4 characters, chunk 0",
    ]
    assert tools.kb_list("1").startswith("42 documents, page 1 of 0 to 2:\nz18")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    assert tools.kb_list(3) == "There is no page 3; the last one is 2."
    for wrong in (-1, "x", None, float("inf")):
        assert tools.kb_list(wrong) == "page is a whole number, from 0."  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    with KnowledgeBase.open(tmp_path / "none.db") as none:
        assert none.tool_functions().kb_list() == "The knowledge base holds no documents."
        none.add(note("a", "text"))
        assert none.tool_functions().kb_list().startswith("1 document, page 0 of 0 to 0:")


@pytest.mark.anyio
async def test_async(tmp_path: Path) -> None:
    with KnowledgeBase.open(tmp_path / "vectors.db", Later()) as base:
        await base.aadd(note("a", "Refunds take thirty days."))
        tools = base.tool_functions()
        assert [one.name for one in tools.async_tools()] == ["kb_query", "kb_files", "kb_read", "kb_list"]
        assert "Refunds" in await tools.akb_query("refund")
        assert (await tools.akb_query("hello")).startswith("That is small talk")
