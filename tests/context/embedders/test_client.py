"""The embedder through the official client, against a local server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from openai import AsyncOpenAI, OpenAI
from openai.types import CreateEmbeddingResponse

from priompt_py.context import ClientEmbedder
from priompt_py.errors import ArgumentTypeError, ArgumentValueError, EmbedderError
from tests.context.embedders.server import Said, Server, answer_of, serving
from tests.context.embedders.test_endpoint import unit


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


@pytest.fixture
def client(server: Server) -> Iterator[OpenAI]:
    with OpenAI(base_url=server.url, api_key="secret", max_retries=5, timeout=5) as made:
        yield made


def test_batches(server: Server, client: OpenAI) -> None:
    mine = ClientEmbedder(client, "nomic-embed-text", batch=2)
    found: Any = mine.embed(["a", " ", "b", "c"], "query")
    assert found.tolist() == [
        unit("search_query: a"),
        [0, 0, 0],
        unit("search_query: b"),
        unit("search_query: c"),
    ]
    assert [len(texts) for texts in server.inputs] == [2, 1]
    assert (mine.name, mine.dim) == ("nomic-embed-text", 3)
    assert repr(mine) == "ClientEmbedder(OpenAI(…), 'nomic-embed-text')"


def test_the_dimension_is_asked_for(server: Server, client: OpenAI) -> None:
    assert ClientEmbedder(client, "m").dim == 3
    assert server.inputs == [["dimension"]]


def test_shortened(server: Server, client: OpenAI) -> None:
    mine = ClientEmbedder(client, "m", dim=4, shorten=True)
    assert mine.name == "m/4"
    found: Any = mine.embed(["abc"], "passage")
    assert found.tolist() == [unit("abc", 4)]
    assert server.requests[0]["dimensions"] == 4


@pytest.mark.anyio
async def test_an_asynchronous_client(server: Server) -> None:
    async with AsyncOpenAI(base_url=server.url, api_key="secret") as client:
        mine = ClientEmbedder(client, "m", dim=3, batch=1)
        found: Any = mine.embed(["a", "b"], "query")
        assert (await found).tolist() == [unit("a"), unit("b")]
        server.answers.append(Said({"error": {"message": "no"}}, 400))
        failing: Any = mine.embed(["a"], "query")
        with pytest.raises(EmbedderError, match="BadRequestError"):
            await failing
        with pytest.raises(
            ArgumentValueError, match=r"ClientEmbedder\(\) needs dim with an asynchronous client"
        ):
            ClientEmbedder(client, "m")


@pytest.mark.parametrize(
    ("said", "reason", "words"),
    [
        (Said({"error": {"message": "no"}}, 429), "status", "RateLimitError: Error code: 429"),
        (Said(b"", 500), "status", "InternalServerError"),
        (Said({}, pause=1.0), "timeout", "APITimeoutError: "),
        (Said(answer_of([[1, 2]]), cut=True), "unreachable", "APIConnectionError: Connection error."),
        (Said({"data": []}), "count", "it gave 0 vectors for 1 texts"),
        (Said(answer_of([[1, 2], [1, 2]])), "count", "it gave 2 vectors for 1 texts"),
        (Said(answer_of([[1, 2]])), "size", "its vectors have 2 numbers, not 3"),
    ],
)
def test_what_goes_wrong_is_told_once(server: Server, said: Said, reason: str, words: str) -> None:
    """However often the client would try by itself."""
    server.answers += [said] * 9
    with OpenAI(base_url=server.url, api_key="secret", max_retries=5, timeout=0.3) as client:
        mine = ClientEmbedder(client, "m", dim=3)
        with pytest.raises(EmbedderError) as caught:
            mine.embed(["x"], "query")
    assert caught.value.reason == reason
    assert caught.value.detail.startswith(words)
    assert len(server.requests) == 1


def test_retries_on_request(server: Server, client: OpenAI) -> None:
    server.answers += [Said(b"", 429, {"Retry-After-Ms": "1"})]
    assert ClientEmbedder(client, "m", retries=1).dim == 3
    assert len(server.requests) == 2


def test_a_stand_in_for_the_client() -> None:
    """What has the same methods will do; its answer may be a dict."""

    class Embeddings:
        def create(self, **request: Any) -> object:
            return answer_of([[0, 2]] * len(request["input"]))

    class Client:
        embeddings = Embeddings()

        def with_options(self, **options: Any) -> Client:
            return self

    assert ClientEmbedder(Client(), "m").dim == 2


def test_not_a_client() -> None:
    with pytest.raises(
        ArgumentTypeError, match=r"needs a client of the package openai, got 'http://a' \(str\)"
    ):
        ClientEmbedder("http://a", "m")


def test_the_answer_is_the_official_one() -> None:
    assert CreateEmbeddingResponse.model_validate(answer_of([[1.0, 2.0]])).data[0].embedding == [1.0, 2.0]
