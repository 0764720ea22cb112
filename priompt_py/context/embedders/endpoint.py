"""An embedder that asks a server of OpenAI's interface by its URL: OpenAI, LM Studio, Ollama, vLLM and their like."""

from __future__ import annotations

import json
import logging
import math
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, cast
from urllib.parse import urlsplit

from priompt_py.author.checks import got, text, text_or_none, whole_number, wrong_type, wrong_value
from priompt_py.context.embedders.batches import Batch, Plan
from priompt_py.context.embedders.http import Answer, Unanswered, post
from priompt_py.context.embedders.prefixes import Prefixes
from priompt_py.context.embedders.vectors import Kind, Vectors
from priompt_py.errors import EmbedderError

__all__ = ["EndpointEmbedder"]

_log = logging.getLogger("priompt_py.context")

_LONGEST_WAIT = 30.0  # seconds; a server that asks for more is given up
_SHOWN = 300  # characters of what a server says


class EndpointEmbedder:
    """Vectors from ``base_url`` + ``/embeddings``, by the model's name there; no other package is needed but numpy.

    ``dim`` is how many numbers a vector has; None asks the server once, with one word, when it is first needed.
    ``shorten=True`` asks for vectors of ``dim`` numbers, which some models can give. ``prefixes`` stand before each
    query and passage; None takes those that the model is known to want (:mod:`.prefixes`), ``{}`` none. ``batch`` is
    the texts in a request, ``timeout`` the seconds it may take.

    A request is sent again, at most ``retries`` times, only where the server said that it did nothing: status 429 or
    503. Each time is a warning in the log ``priompt_py.context``. What may have been paid for (a timeout, a broken
    connection, status 500) is never asked for twice.

    ``name`` is what a knowledge base knows its vectors by; without it the model's name, with ``/dim`` where they are
    shortened. Whoever changes ``prefixes`` should change it too. ``embed`` may be called from several threads.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        api_key: str | None = None,
        dim: int | None = None,
        shorten: bool = False,
        prefixes: Prefixes | None = None,
        batch: int = 50,
        timeout: float = 60.0,
        retries: int = 2,
        name: str | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        tag = type(self).__name__
        self._url = _embeddings_url(tag, base_url)
        self._key = _key(tag, api_key)
        self._timeout = _seconds(tag, timeout)
        self._retries = whole_number(tag, "retries", retries)
        self._sleep = sleep
        self._plan = Plan.checked(
            tag, model=model, name=name, dim=dim, shorten=shorten, batch=batch, prefixes=prefixes
        )
        self._dim = self._plan.dim
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._url.removesuffix('/embeddings')!r}, {self._plan.model!r})"

    @property
    def name(self) -> str:
        """What vectors of this kind are known by."""
        return self._plan.name

    @property
    def dim(self) -> int:
        """How many numbers a vector has. Asks the server where that isn't known; then EmbedderError may be raised."""
        if self._dim is None:
            self._rows(Batch(["dimension"], [0]))
        assert self._dim is not None
        return self._dim

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        """The vectors of ``texts``, a row each, of length 1. EmbedderError where they can't be had."""
        parts = [(batch, self._rows(batch)) for batch in self._plan.batches(texts, kind)]
        return self._plan.gathered(len(texts), self.dim, parts)

    def _rows(self, batch: Batch) -> Vectors:
        rows = self._plan.rows(self._asked(self._plan.request(batch.texts)), batch, self._dim)
        with self._lock:
            size = int(rows.shape[1])
            if self._dim is None:
                self._dim = size
            elif size != self._dim:  # two threads' first answers
                raise EmbedderError(self.name, "size", f"its vectors have {size} numbers, not {self._dim}")
        return rows

    def _asked(self, request: dict[str, Any]) -> object:
        body = json.dumps(request, ensure_ascii=False).encode()
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key is not None:
            headers["Authorization"] = f"Bearer {self._key}"
        waits = 0
        while True:
            try:
                answer = post(self._url, body, headers, timeout=self._timeout)
            except Unanswered as error:
                raise EmbedderError(self.name, error.reason, f"{self._url}: {error.detail}") from None
            if answer.status == 200:
                return self._json(answer)
            wait = answer.retry_after if answer.retry_after is not None else 2.0**waits
            if answer.status not in (429, 503) or waits == self._retries or wait > _LONGEST_WAIT:
                raise self._refusal(answer)
            waits += 1
            _log.warning("%s: status %d, asking again in %g s", self.name, answer.status, wait)
            self._sleep(wait)

    def _json(self, answer: Answer) -> object:
        try:
            return json.loads(answer.body)
        except (ValueError, RecursionError):
            raise EmbedderError(self.name, "answer", f"{self._url}: its answer is no JSON") from None

    def _refusal(self, answer: Answer) -> EmbedderError:
        said = _message(answer.body)
        if self._key:
            said = said.replace(self._key, "…")
        detail = f"{self._url}: status {answer.status}" + (f": {said}" if said else "")
        if answer.status == 404:
            detail += "; base_url is what stands before /embeddings, often with /v1 at its end"
        return EmbedderError(self.name, "status", detail)


def _message(body: bytes) -> str:
    """What a server says of its refusal: OpenAI's form, Ollama's, or the text as it is; in one line, not too long."""
    said = body.decode("utf-8", "replace")
    try:
        found: Any = json.loads(said)
    except (ValueError, RecursionError):
        found = None
    for key in ("error", "message"):
        if isinstance(found, dict):
            found = cast("dict[str, Any]", found).get(key, found)
    if isinstance(found, str):
        said = found
    said = " ".join("".join(c if c.isprintable() else " " for c in said[: 4 * _SHOWN]).split())
    return said if len(said) <= _SHOWN else said[:_SHOWN] + "…"


def _embeddings_url(tag: str, base_url: object) -> str:
    url = text(tag, "base_url", base_url).rstrip("/").removesuffix("/embeddings")
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number, a bracket that is not closed
        usable = False
        parts = urlsplit("")
    if not usable or not url.isascii() or any(c.isspace() or not c.isprintable() for c in url):
        raise wrong_value(
            "base_url", f"{tag}() needs a URL like http://localhost:1234/v1, got base_url={got(base_url)}"
        )
    if parts.username is not None or parts.query or parts.fragment:
        raise wrong_value("base_url", f"{tag}() takes a base_url without user, query and fragment")
    return f"{url}/embeddings"


def _key(tag: str, api_key: object) -> str | None:
    key = text_or_none(tag, "api_key", api_key)
    if key is not None and (not key.isascii() or not key.isprintable() or key != key.strip()):
        raise wrong_value("api_key", f"{tag}() needs an api_key of ASCII characters without blanks around")
    return key


def _seconds(tag: str, timeout: object) -> float:
    if type(timeout) not in (int, float):
        raise wrong_type("timeout", f"{tag}() needs a number of seconds for timeout, got {got(timeout)}")
    seconds = float(cast("float", timeout))
    if not (math.isfinite(seconds) and seconds > 0):
        raise wrong_value("timeout", f"{tag}() needs timeout > 0, got timeout={timeout}")
    return seconds
