"""What is done where prompts' code may run: in a process of its own, or in a thread of the program that serves itself.

A *job* is a JSON object with an ``op``; its answer is a status of HTTP and JSON.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

from priompt_py.preview.json_kinds import is_object
from priompt_py.preview.recording import without_dumps
from priompt_py.web import looks
from priompt_py.web.answers import Answer, Refusal, failure, json_bytes
from priompt_py.web.catalogue import Broken, Catalogue, Served
from priompt_py.web.feeding import fed
from priompt_py.web.view import View

__all__ = ["Bench", "Missing"]

MOST_VIEWS = 8
"""Compiled prompts that are kept; one of 10,000 scopes takes about 30 MB."""

Job = Mapping[str, Any]


class Missing(Exception):
    """A view that is not here (any more): its job is to be sent again with ``specs``, from which it is made."""


class Bench:
    """Carries out jobs, one at a time."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self._views: OrderedDict[str, View] = OrderedDict()
        self._ops: dict[str, Callable[[Job], Any]] = {
            "warm": self._warm,
            "prompts": self._prompts,
            "props": self._props,
            "open": self._open,
            "at": lambda job: {**self._view(job).move(self._limit(job)), "seq": job.get("seq")},
            "curve": lambda job: self._view(job).curve(self._limit(job)),
            "report": lambda job: self._view(job).report(self._limit(job)),
            "element": lambda job: self._view(job).element(job["row"], self._limit(job)),
            "text": lambda job: self._view(job).text(job["row"]),
            "tokens": lambda job: looks.tokens_of(self._view(job), self._limit(job)),
            "request": self._request,
            "compare": self._compare,
            "feed": self._feed,
        }

    def do(self, job: Job, printed: Callable[[], str] = str) -> Answer:
        """Carry out a job; what its code raises is an answer too. ``printed`` gives what it has printed.

        Raises Missing, and KeyboardInterrupt.
        """
        try:
            with without_dumps():  # a preview is no run
                found = self._ops[job["op"]](job)
            if job["op"] in ("open", "feed"):
                found["printed"] = printed()
            return 200, json_bytes(found)
        except (Missing, KeyboardInterrupt):
            raise
        except BaseException as error:  # noqa: BLE001 - a prompt's code may raise anything, SystemExit too
            return failure(error, printed=printed())

    # -- the list -----------------------------------------------------------------------------

    def _prompts(self, job: Job) -> dict[str, Any]:
        return {"prompts": [_listed(one) for one in self.catalogue.all()]}

    def _warm(self, job: Job) -> dict[str, Any]:
        """Load what the first prompt will need."""
        from priompt_py.face.settings import DEFAULT_TOKENIZER
        from priompt_py.tokens.tokenizer import get_tokenizer

        get_tokenizer(DEFAULT_TOKENIZER).count("a word")
        return self._prompts(job)

    def _served(self, prompt_id: str) -> Served:
        served = self.catalogue.get(prompt_id)
        if served is None:
            raise Refusal(404, "unknown", f"there is no prompt {prompt_id!r} here")
        return served

    def _props(self, job: Job) -> dict[str, Any]:
        return {"props": dict(self._named(self._served(job["prompt"]), job["name"]))}

    @staticmethod
    def _named(served: Served, name: str) -> Mapping[str, Any]:
        try:
            return served.named(name)
        except Exception as error:
            from priompt_py.errors import SourceError

            if not isinstance(error, SourceError) or any(one.name == name for one in served.examples()):
                raise  # what is there is no dump
            raise Refusal(404, "unknown", str(getattr(error, "message", error)), place=served.title) from None

    # -- views --------------------------------------------------------------------------------

    def _open(self, job: Job) -> dict[str, Any]:
        view = self._made(job["view"], job["specs"][job["view"]], anew=True)
        return {"view": job["view"], **view.opened(job.get("limit"))}

    def _made(self, name: str, spec: Job, *, anew: bool = False) -> View:
        if name in self._views and not anew:
            self._views.move_to_end(name)
            return self._views[name]
        served = self._served(spec["prompt"])
        props: dict[str, Any] = {}
        if spec.get("example") is not None:
            props |= self._named(served, spec["example"])
        if is_object(spec.get("props")):
            props |= spec["props"]
        view = View(served, props, tokenizer=spec.get("tokenizer"), model=spec.get("model"))
        self._views[name] = view
        self._views.move_to_end(name)
        while len(self._views) > MOST_VIEWS:
            self._views.popitem(last=False)
        return view

    def _view(self, job: Job, name: str = "view") -> View:
        """The view that a job speaks of. Raises Missing."""
        specs: Any = job.get("specs") or {}
        wanted = job[name]
        if wanted in self._views:
            return self._made(wanted, {})
        if wanted not in specs:
            raise Missing
        return self._made(wanted, specs[wanted])

    def _limit(self, job: Job) -> int:
        limit: int | None = job.get("limit")
        return self._view(job).limit_of(job["level"]) if limit is None else limit

    def _request(self, job: Job) -> dict[str, Any]:
        return looks.request_of(self._view(job).rendered(self._limit(job)), job["provider"])

    def _compare(self, job: Job) -> dict[str, Any]:
        specs: Any = job.get("specs")
        sides: list[dict[str, Any]] = [{**job[side], "specs": specs} for side in ("a", "b")]
        if any(side["view"] not in self._views for side in sides) and not specs:
            raise Missing
        a, b = ((self._view(side), self._limit(side)) for side in sides)
        return looks.compare(a, b)

    def _feed(self, job: Job) -> dict[str, Any]:
        return fed(self._view(job), self._limit(job), job["answer"], stream=job["stream"], pause=job["pause"])


def _listed(one: Served | Broken) -> dict[str, Any]:
    """A prompt as the page lists it."""
    if isinstance(one, Broken):
        import json

        told: Any = json.loads(failure(one.error)[1])
        return {
            "id": one.id,
            "title": one.id,
            "kind": "unknown",
            "place": None,
            "token_limit": None,
            "props": None,
            "takes_children": False,
            "takes_return": False,
            "examples": [],
            "problem": told["error"],
        }
    problem: Any = None
    examples: list[dict[str, Any]] = []
    try:
        examples = [
            {
                "name": named.name,
                "is_example": named.is_example,
                "size": named.size,
                "modified": named.modified,
            }
            for named in one.examples()
        ]
    except Exception as error:  # noqa: BLE001 - a folder of dumps that can't be read
        import json

        problem = json.loads(failure(error)[1])["error"]
    return {
        "id": one.id,
        "title": one.title,
        "kind": one.kind,
        "place": one.place,
        "token_limit": one.token_limit,
        "props": one.props,
        "takes_children": one.takes_children,
        "takes_return": one.takes_return,
        "examples": examples,
        "problem": problem,
    }
