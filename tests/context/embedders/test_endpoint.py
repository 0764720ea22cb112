"""The embedder by URL against a local server: what is sent, what is read, and all that can go wrong."""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from priompt_py.context import EndpointEmbedder
from priompt_py.context.embedders.http import Unanswered, is_local, post
from priompt_py.errors import ArgumentTypeError, ArgumentValueError, EmbedderError
from tests.context.embedders.server import Said, Server, answer_of, serving, vector_of


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


def unit(text: str, dim: int = 3) -> list[float]:
    vector = np.array(vector_of(text, dim))
    return [float(number) for number in (vector / np.linalg.norm(vector)).astype(np.float32)]


def embedder(server: Server, model: str = "some-model", **options: Any) -> EndpointEmbedder:
    return EndpointEmbedder(server.url, model, **options)


# ------------------------------------------------------------------------------------------ what is sent and read


def test_batches_in_order(server: Server) -> None:
    mine = embedder(server, batch=2, api_key="secret")
    assert mine.embed(["one", "three", "five5"], "passage").tolist() == [
        unit("one"),
        unit("three"),
        unit("five5"),
    ]
    assert server.requests == [
        {"model": "some-model", "input": ["one", "three"], "encoding_format": "float"},
        {"model": "some-model", "input": ["five5"], "encoding_format": "float"},
    ]
    assert server.paths == ["/v1/embeddings"] * 2
    assert {headers["authorization"] for headers in server.headers} == {"Bearer secret"}
    assert mine.name == "some-model"
    assert mine.dim == 3  # known by now
    assert len(server.requests) == 2
    assert repr(mine) == f"EndpointEmbedder({server.url!r}, 'some-model')"


def test_no_key_no_header(server: Server) -> None:
    embedder(server).embed(["é 中"], "query")
    assert "authorization" not in server.headers[0]
    assert server.inputs == [["é 中"]]


def test_the_dimension_is_asked_for_once(server: Server) -> None:
    mine = embedder(server)
    assert (mine.dim, mine.dim) == (3, 3)
    assert server.inputs == [["dimension"]]
    given = embedder(server, dim=3)
    assert given.dim == 3
    assert len(server.requests) == 1
    given.embed(["x"], "query")
    assert "dimensions" not in server.requests[-1]


def test_shortened_vectors(server: Server) -> None:
    mine = embedder(server, dim=5, shorten=True)
    assert mine.name == "some-model/5"
    assert mine.embed(["abc"], "query").tolist() == [unit("abc", 5)]
    assert server.requests[0]["dimensions"] == 5


def test_blank_texts_are_not_sent(server: Server) -> None:
    found = embedder(server).embed(["", "one", " \n"], "passage")
    assert found.tolist() == [[0, 0, 0], unit("one"), [0, 0, 0]]
    assert server.inputs == [["one"]]
    assert embedder(server, dim=4).embed([" "], "query").tolist() == [[0] * 4]
    assert embedder(server, dim=4).embed([], "query").shape == (0, 4)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("model", "query", "passage"),
    [
        ("text-embedding-nomic-embed-text-v1.5@q8_0", "search_query: ", "search_document: "),
        ("intfloat/multilingual-E5-small", "query: ", "passage: "),
        ("multilingual-e5-large-instruct", "", ""),
        ("mxbai-embed-large", "Represent this sentence for searching relevant passages: ", ""),
        ("snowflake-arctic-embed2", "query: ", ""),
        ("embeddinggemma:300m", "task: search result | query: ", "title: none | text: "),
        ("text-embedding-3-small", "", ""),
    ],
)
def test_prefixes_of_known_models(server: Server, model: str, query: str, passage: str) -> None:
    mine = embedder(server, model)
    mine.embed(["x"], "query")
    mine.embed(["x"], "passage")
    assert server.inputs == [[f"{query}x"], [f"{passage}x"]]


def test_own_prefixes(server: Server) -> None:
    mine = embedder(server, "nomic-embed-text", prefixes={"query": "Q "}, name="nomic, own words")
    mine.embed(["x"], "query")
    mine.embed(["x"], "passage")
    embedder(server, "nomic-embed-text", prefixes={}).embed(["x"], "query")
    assert server.inputs == [["Q x"], ["x"], ["x"]]
    assert mine.name == "nomic, own words"


def test_base64_and_order_by_index(server: Server) -> None:
    answer = answer_of([vector_of("a"), vector_of("bb")], as_text=True)
    answer["data"].reverse()
    server.answers.append(Said(answer))
    assert embedder(server).embed(["a", "bb"], "query").tolist() == [unit("a"), unit("bb")]


def test_an_answer_without_indices_is_in_order(server: Server) -> None:
    server.answers.append(Said({"data": [{"embedding": vector_of("a")}, {"embedding": vector_of("bb")}]}))
    assert embedder(server).embed(["a", "bb"], "query").tolist() == [unit("a"), unit("bb")]


def test_several_threads(server: Server) -> None:
    mine = embedder(server, batch=1)
    found: dict[int, Any] = {}

    def ask(number: int) -> None:
        found[number] = mine.embed([f"text {number}"] * 3, "query").tolist()

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {number: [unit(f"text {number}")] * 3 for number in range(8)}


# ------------------------------------------------------------------------------------------ what goes wrong


@pytest.mark.parametrize(
    ("body", "reason", "detail"),
    [
        (b"<html>", "answer", "its answer is no JSON"),
        (b"\xff", "answer", "its answer is no JSON"),
        (b"[" * 100_000, "answer", "its answer is no JSON"),
        ([], "answer", "its answer has no list `data`"),
        ({"data": {}}, "answer", "its answer has no list `data`"),
        ({"data": []}, "count", "it gave 0 vectors for 1 texts"),
        ({"data": [3]}, "answer", "its answer has no `embedding` in data[0]"),
        ({"data": [{"index": 0}]}, "answer", "its answer has no `embedding` in data[0]"),
        (
            {"data": [{"embedding": [1], "index": 1}]},
            "answer",
            "its answer has index 1 in data[0]",
        ),
        (
            {"data": [{"embedding": [1], "index": True}]},
            "answer",
            "its answer has index True in data[0]",
        ),
        ({"data": [{"embedding": "???"}]}, "answer", "its vectors are text that is no base64 of floats"),
        ({"data": [{"embedding": "AAAA"}]}, "answer", "its vectors are text that is no base64 of floats"),
        (
            {"data": [{"embedding": None}]},
            "answer",
            "it gave an array of 1 dimensions, not a list of vectors",
        ),
        ({"data": [{"embedding": [1, 2]}]}, "size", "its vectors have 2 numbers, not 3"),
        (b'{"data": [{"embedding": [1, NaN, 2]}]}', "not-finite", "the vector of text 0 (from 0) holds NaN"),
    ],
)
def test_odd_answers(server: Server, body: Any, reason: str, detail: str) -> None:
    server.answers.append(Said(body))
    with pytest.raises(EmbedderError) as caught:
        embedder(server, dim=3).embed(["x"], "query")
    assert caught.value.reason == reason
    assert caught.value.detail.removeprefix(f"{server.url}/embeddings: ") == detail


def test_an_index_twice(server: Server) -> None:
    server.answers.append(Said({"data": [{"embedding": [1], "index": 0}] * 2}))
    with pytest.raises(EmbedderError, match=r"its answer has index 0 in data\[1\]"):
        embedder(server).embed(["x", "y"], "query")


def test_another_model_behind_the_url(server: Server) -> None:
    mine = embedder(server)
    mine.embed(["x"], "query")
    server.answers.append(Said(answer_of([[1, 2]])))
    with pytest.raises(EmbedderError, match="its vectors have 2 numbers, not 3"):
        mine.embed(["x"], "query")


def test_two_first_answers_of_different_sizes(server: Server) -> None:
    """Both were asked before either's size was known."""
    mine = embedder(server)
    server.answers.append(Said(answer_of([[1, 2]])))

    def meanwhile(request: dict[str, Any]) -> Said:
        mine.embed(["y"], "query")
        return Said(answer_of([[1, 2, 3]]))

    server.answers.insert(0, meanwhile)
    with pytest.raises(EmbedderError, match="its vectors have 3 numbers, not 2"):
        mine.embed(["x"], "query")


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (Said({"error": {"message": "no such\nmodel", "code": 7}}, 400), "status 400: no such model"),
        (Said({"error": "model 'x' not found"}, 400), "status 400: model 'x' not found"),
        (Said({"message": "busy"}, 500), "status 500: busy"),
        (Said({"detail": [1]}, 422), 'status 422: {"detail": [1]}'),
        (Said(b"\x1b[31mred\x07 \xff", 500), "status 500: [31mred �"),
        (Said(b"", 500), "status 500"),
        (Said(b"x" * 999, 500), "status 500: " + "x" * 300 + "…"),
        (Said({"error": {"message": "bad key secret!"}}, 401), "status 401: bad key …!"),
        (
            Said(b"not found", 404),
            "status 404: not found; base_url is what stands before /embeddings, often with /v1 at its end",
        ),
    ],
)
def test_refusals(server: Server, said: Said, words: str) -> None:
    server.answers.append(said)
    with pytest.raises(EmbedderError) as caught:
        embedder(server, api_key="secret").embed(["x"], "query")
    assert caught.value.reason == "status"
    assert caught.value.detail == f"{server.url}/embeddings: {words}"
    assert len(server.requests) == 1


def test_a_redirect_is_not_followed(server: Server) -> None:
    for status in (301, 302, 307, 308):
        server.answers.append(Said(b"", status, {"Location": f"{server.url}/elsewhere"}))
        with pytest.raises(EmbedderError, match=f"status {status}$"):
            embedder(server, api_key="secret").embed(["x"], "query")
    assert server.paths == ["/v1/embeddings"] * 4


def test_asked_again_where_nothing_was_done(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    waits: list[float] = []
    server.answers += [Said(b"", 429), Said(b"", 503, {"Retry-After": "7"})]
    with caplog.at_level(logging.WARNING, "priompt_py.context"):
        found = embedder(server, sleep=waits.append).embed(["x"], "query")
    assert found.tolist() == [unit("x")]
    assert waits == [1.0, 7.0]
    assert [record.getMessage() for record in caplog.records] == [
        "some-model: status 429, asking again in 1 s",
        "some-model: status 503, asking again in 7 s",
    ]


@pytest.mark.parametrize(
    ("options", "answers", "asked"),
    [
        ({}, [Said(b"", 429)] * 9, 3),
        ({"retries": 0}, [Said(b"", 429)] * 9, 1),
        ({}, [Said(b"", 500)] * 9, 1),
        ({}, [Said(b"", 429, {"Retry-After": "31"})] * 9, 1),
        ({}, [Said(b"", 429, {"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"})] * 9, 3),
        ({}, [Said(b"", 429, {"Retry-After": "-1"})] * 9, 3),
        ({}, [Said(b"", 429, {"Retry-After": "inf"})] * 9, 3),
    ],
)
def test_not_asked_more_often(
    server: Server, options: dict[str, Any], answers: list[Said], asked: int, caplog: pytest.LogCaptureFixture
) -> None:
    waits: list[float] = []
    server.answers += answers
    with caplog.at_level(logging.ERROR), pytest.raises(EmbedderError, match="status"):
        embedder(server, sleep=waits.append, **options).embed(["x"], "query")
    assert len(server.requests) == asked
    assert waits == [1.0, 2.0][: asked - 1]


def test_too_late(server: Server) -> None:
    server.answers += [Said({}, pause=1.0)]
    with pytest.raises(EmbedderError, match=r"it took longer than 0\.1 s") as caught:
        embedder(server, timeout=0.1).embed(["x"], "query")
    assert caught.value.reason == "timeout"


def test_too_late_in_the_middle(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each wait is short enough, and all of them together are not."""
    times = iter([0.0, 0.05, 0.2])
    monkeypatch.setattr("priompt_py.context.embedders.http.time.monotonic", lambda: next(times, 9.0))
    server.answers += [Said(b" " * 200_000)]
    with pytest.raises(Unanswered, match=r"it took longer than 0\.1 s"):
        post(f"{server.url}/embeddings", b"{}", {}, timeout=0.1)


def test_too_long(server: Server) -> None:
    server.answers += [Said(b" " * (3 << 20))]
    with pytest.raises(Unanswered, match="its answer is longer than 1 MiB") as caught:
        post(f"{server.url}/embeddings", b"{}", {}, timeout=5, most_bytes=1 << 20)
    assert caught.value.reason == "answer"


def test_a_connection_that_breaks_off(server: Server) -> None:
    server.answers += [Said(answer_of([vector_of("x")]), cut=True)]
    with pytest.raises(EmbedderError, match="it broke the connection off") as caught:
        embedder(server).embed(["x"], "query")
    assert caught.value.reason == "unreachable"
    assert len(server.requests) == 1


def test_nobody_there() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(
        EmbedderError, match=f"^m: http://localhost:{port}/v1/embeddings: it can't be reached: "
    ):
        EndpointEmbedder(f"http://localhost:{port}/v1", "m").embed(["x"], "query")


def test_a_server_on_this_machine_needs_no_proxy(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)
    assert embedder(server).embed(["x"], "query").tolist() == [unit("x")]
    assert [is_local(url) for url in ("http://localhost/", "http://[::1]:1/", "http://127.0.0.2", "http://a.b")] == [
        True, True, True, False,
    ]  # fmt: skip


# ------------------------------------------------------------------------------------------ arguments


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        (
            "localhost:1234",
            "needs a URL like http://localhost:1234/v1, got base_url='localhost:1234' (str)",
        ),
        ("ftp://a/v1", "needs a URL like"),
        ("http://", "needs a URL like"),
        ("http://a:port/v1", "needs a URL like"),
        ("http://[::1/v1", "needs a URL like"),
        ("http://a/v 1", "needs a URL like"),
        ("http://ä/v1", "needs a URL like"),
        ("http://me:secret@a/v1", "takes a base_url without user, query and fragment"),
        ("http://a/v1?x=1", "takes a base_url without user, query and fragment"),
    ],
)
def test_urls_that_are_refused(url: str, sentence: str) -> None:
    with pytest.raises(ArgumentValueError, match="base_url") as caught:
        EndpointEmbedder(url, "m")
    assert sentence in str(caught.value)


@pytest.mark.parametrize("url", ["http://a/v1", "http://a/v1/", "http://a/v1/embeddings"])
def test_the_path_is_added_once(url: str) -> None:
    assert repr(EndpointEmbedder(url, "m")) == "EndpointEmbedder('http://a/v1', 'm')"


@pytest.mark.parametrize(
    ("options", "kind", "sentence"),
    [
        ({"model": ""}, ArgumentValueError, "EndpointEmbedder() needs the model's name, got an empty text"),
        ({"model": 3}, ArgumentTypeError, "EndpointEmbedder() needs text for model, got model=3 (int)"),
        ({"dim": 0}, ArgumentValueError, "EndpointEmbedder() needs dim >= 1, got dim=0"),
        ({"shorten": True}, ArgumentValueError, "EndpointEmbedder() needs dim to shorten vectors to"),
        ({"batch": 0}, ArgumentValueError, "EndpointEmbedder() needs batch >= 1, got batch=0"),
        ({"batch": 2049}, ArgumentValueError, "EndpointEmbedder() needs batch <= 2048, got batch=2049"),
        ({"retries": -1}, ArgumentValueError, "EndpointEmbedder() needs retries >= 0, got retries=-1"),
        ({"timeout": 0}, ArgumentValueError, "EndpointEmbedder() needs timeout > 0, got timeout=0"),
        (
            {"timeout": float("nan")},
            ArgumentValueError,
            "EndpointEmbedder() needs timeout > 0, got timeout=nan",
        ),
        (
            {"timeout": True},
            ArgumentTypeError,
            "EndpointEmbedder() needs a number of seconds for timeout, got True (bool)",
        ),
        (
            {"api_key": "a\nb"},
            ArgumentValueError,
            "EndpointEmbedder() needs an api_key of ASCII characters without blanks around",
        ),
        (
            {"prefixes": "query: "},
            ArgumentTypeError,
            "EndpointEmbedder() needs a mapping for prefixes, got prefixes='query: ' (str)",
        ),
        (
            {"prefixes": {"document": ""}},
            ArgumentValueError,
            "EndpointEmbedder() takes prefixes for query and passage, got one for 'document'",
        ),
        (
            {"prefixes": {"query": 1}},
            ArgumentTypeError,
            "EndpointEmbedder() needs text for prefixes['query'], got prefixes['query']=1 (int)",
        ),
    ],
)
def test_arguments(options: dict[str, Any], kind: type[Exception], sentence: str) -> None:
    with pytest.raises(kind) as caught:
        EndpointEmbedder("http://a/v1", options.pop("model", "m"), **options)
    assert str(caught.value) == sentence


def test_an_unknown_kind(server: Server) -> None:
    with pytest.raises(ArgumentValueError, match="needs kind to be one of query, passage"):
        embedder(server).embed(["x"], "document")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
