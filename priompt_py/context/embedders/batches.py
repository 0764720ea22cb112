"""What the embedders that ask a server have in common: options, batches, and how an answer is read."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import attrs

from priompt_py.author.checks import choice, text, truth, whole_number, wrong_value
from priompt_py.context.embedders.prefixes import Prefixes, prefixes_for
from priompt_py.context.embedders.vectors import Kind, Vectors, checked_vectors, numpy
from priompt_py.errors import EmbedderError

__all__ = ["Batch", "Plan", "rows_of"]

_MOST = 2048  # texts in a request, by OpenAI's reference


@attrs.frozen
class Batch:
    """Texts of one request, with their prefix, and where their vectors go (indices from 0)."""

    texts: list[str]
    places: list[int]


@attrs.frozen
class Plan:
    """How texts become requests, and answers vectors. ``tag`` is the class whose arguments these are."""

    name: str
    model: str
    dim: int | None
    shorten: bool
    batch: int
    prefixes: Prefixes

    @classmethod
    def checked(
        cls,
        tag: str,
        *,
        model: object,
        name: object,
        dim: object,
        shorten: object,
        batch: object,
        prefixes: Prefixes | None,
    ) -> Plan:
        """From the arguments of an embedder."""
        model = text(tag, "model", model)
        if not model:
            raise wrong_value("model", f"{tag}() needs the model's name, got an empty text")
        if dim is not None:
            dim = whole_number(tag, "dim", dim, least=1)
        shorten = truth(tag, "shorten", shorten)
        if shorten and dim is None:
            raise wrong_value("shorten", f"{tag}() needs dim to shorten vectors to")
        batch = whole_number(tag, "batch", batch, least=1)
        if batch > _MOST:
            raise wrong_value("batch", f"{tag}() needs batch <= {_MOST}, got batch={batch}")
        own = f"{model}/{dim}" if shorten else model
        return cls(
            name=own if name is None else text(tag, "name", name),
            model=model,
            dim=dim,
            shorten=shorten,
            batch=batch,
            prefixes=prefixes_for(tag, model, prefixes),
        )

    def request(self, texts: list[str]) -> dict[str, Any]:
        """What is sent for texts of one batch."""
        request: dict[str, Any] = {"model": self.model, "input": texts, "encoding_format": "float"}
        if self.shorten:
            request["dimensions"] = self.dim
        return request

    def batches(self, texts: Sequence[str], kind: Kind) -> Iterator[Batch]:
        """The requests for ``texts``. A blank text is not sent, since servers refuse it: its vector is all zeros."""
        prefix = self.prefixes[choice("embed", "kind", kind, ("query", "passage"))]
        places = [place for place, one in enumerate(texts) if one.strip()]
        for start in range(0, len(places), self.batch):
            some = places[start : start + self.batch]
            yield Batch([prefix + texts[place] for place in some], some)

    def rows(self, answer: object, batch: Batch, dim: int | None) -> Vectors:
        """The checked vectors of a batch."""
        given = rows_of(self.name, answer, len(batch.texts))
        return checked_vectors(self.name, given, count=len(batch.texts), dim=dim)

    def gathered(self, count: int, dim: int, parts: Sequence[tuple[Batch, Vectors]]) -> Vectors:
        """The vectors of all batches in the order of the texts."""
        np = numpy()
        result: Vectors = np.zeros((count, dim), dtype=np.float32)
        for batch, rows in parts:
            result[batch.places] = rows
        return result


def rows_of(name: str, answer: object, count: int) -> list[object]:
    """The vectors in an answer of OpenAI's form, by their ``index``; base64 stands for 32-bit floats.

    An answer without indices is in order. EmbedderError for any other form, or another count.
    """
    data = cast("Mapping[object, object]", answer).get("data") if isinstance(answer, Mapping) else None
    if not isinstance(data, list):
        raise EmbedderError(name, "answer", "its answer has no list `data`")
    items = cast("list[object]", data)
    if len(items) != count:
        raise EmbedderError(name, "count", f"it gave {len(items)} vectors for {count} texts")
    rows: list[object] = [None] * count
    taken: set[int] = set()
    for place, item in enumerate(items):
        if not isinstance(item, Mapping) or "embedding" not in item:
            raise EmbedderError(name, "answer", f"its answer has no `embedding` in data[{place}]")
        fields = cast("Mapping[str, object]", item)
        index = fields.get("index")
        index = place if index is None else index
        if type(index) is not int or not 0 <= index < count or index in taken:
            raise EmbedderError(name, "answer", f"its answer has index {index!r} in data[{place}]")
        taken.add(index)
        vector = fields["embedding"]
        rows[index] = _floats(name, vector) if isinstance(vector, str) else vector
    return rows


def _floats(name: str, text: str) -> object:
    try:
        return numpy().frombuffer(base64.b64decode(text, validate=True), dtype="<f4")
    except (binascii.Error, ValueError):
        raise EmbedderError(name, "answer", "its vectors are text that is no base64 of floats") from None
