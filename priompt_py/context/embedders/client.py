"""An embedder that asks through a client of the package ``openai``, with whatever it was set up with."""

from __future__ import annotations

import inspect
from collections.abc import Coroutine, Sequence
from typing import Any, cast

from priompt_py.author.checks import got, whole_number, wrong_type, wrong_value
from priompt_py.context.embedders.batches import Plan
from priompt_py.context.embedders.prefixes import Prefixes
from priompt_py.context.embedders.vectors import Kind, Vectors
from priompt_py.errors import EmbedderError

__all__ = ["ClientEmbedder"]


class ClientEmbedder:
    """Vectors by ``client.embeddings.create``, of a client such as ``OpenAI()``, ``AzureOpenAI()``, ``AsyncOpenAI()``.

    The arguments are those of :class:`.EndpointEmbedder`. An asynchronous client needs ``dim``, and its ``embed`` is to
    be awaited. The client's own retries also repeat what may have been paid for: here there are ``retries``, and none
    where nothing is said, however the client is set.
    """

    def __init__(
        self,
        client: Any,
        model: str,
        *,
        dim: int | None = None,
        shorten: bool = False,
        prefixes: Prefixes | None = None,
        batch: int = 50,
        retries: int = 0,
        name: str | None = None,
    ) -> None:
        tag = type(self).__name__
        create = getattr(getattr(client, "embeddings", None), "create", None)
        if not callable(create) or not hasattr(client, "with_options"):
            raise wrong_type("client", f"{tag}() needs a client of the package openai, got {got(client)}")
        self._is_async = inspect.iscoroutinefunction(create)
        if self._is_async and dim is None:
            raise wrong_value("dim", f"{tag}() needs dim with an asynchronous client")
        whole_number(tag, "retries", retries)
        self._client = client.with_options(max_retries=retries)
        self._plan = Plan.checked(
            tag, model=model, name=name, dim=dim, shorten=shorten, batch=batch, prefixes=prefixes
        )
        self._dim = self._plan.dim

    def __repr__(self) -> str:
        return f"{type(self).__name__}({type(self._client).__name__}(…), {self._plan.model!r})"

    @property
    def name(self) -> str:
        """What vectors of this kind are known by."""
        return self._plan.name

    @property
    def dim(self) -> int:
        """How many numbers a vector has. Asks the server where that isn't known."""
        if self._dim is None:
            self._embed(["dimension"], "passage")
        assert self._dim is not None
        return self._dim

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors | Coroutine[Any, Any, Vectors]:
        """The vectors of ``texts``, a row each, of length 1; to be awaited where the client is asynchronous.

        EmbedderError where they can't be had.
        """
        return self._aembed(texts, kind) if self._is_async else self._embed(texts, kind)

    def _embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        parts: list[Any] = []
        for batch in self._plan.batches(texts, kind):
            try:
                answer = self._client.embeddings.create(**self._plan.request(batch.texts))
            except Exception as error:
                raise self._failure(error) from error
            rows = self._plan.rows(_plain(answer), batch, self._dim)
            self._dim = int(rows.shape[1])
            parts.append((batch, rows))
        return self._plan.gathered(len(texts), self.dim, parts)

    async def _aembed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        parts: list[Any] = []
        for batch in self._plan.batches(texts, kind):
            try:
                answer = await self._client.embeddings.create(**self._plan.request(batch.texts))
            except Exception as error:
                raise self._failure(error) from error
            parts.append((batch, self._plan.rows(_plain(answer), batch, self._dim)))
        return self._plan.gathered(len(texts), self.dim, parts)

    def _failure(self, error: Exception) -> EmbedderError:
        """The client's errors in our words; told by their names, so that the package need not be imported."""
        names = {cls.__name__ for cls in type(error).__mro__}
        reason = next((reason for name, reason in _REASONS.items() if name in names), "failed")
        return EmbedderError(self.name, reason, f"{type(error).__name__}: {error}")


_REASONS = {"APITimeoutError": "timeout", "APIConnectionError": "unreachable", "APIStatusError": "status"}


def _plain(answer: Any) -> object:
    """The answer as dicts. Each vector as it is: a model dumps its numbers one by one, which takes most of the time."""
    items = getattr(answer, "data", None)
    if not isinstance(items, list):
        return answer
    return {
        "data": [
            {"index": getattr(item, "index", None), "embedding": getattr(item, "embedding", None)}
            for item in cast("list[object]", items)
        ]
    }
