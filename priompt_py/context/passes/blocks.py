"""A conversation under pruning: the messages with their ages, units and texts, worked out once, each when it is needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from priompt_py.author.checks import got, text, wrong_type, wrong_value
from priompt_py.context.matching import Analysed, analysed, content_of
from priompt_py.context.messages import Message, TextPart
from priompt_py.context.passes.units import is_kept_always, last_user, units
from priompt_py.context.terms import Definition, find_definitions
from priompt_py.context.word_lists import fold, word_list
from priompt_py.context.words import CJK_RUN, WORD, loose

__all__ = ["Age", "Blocks", "age_argument", "query_argument"]

Age = Callable[[Message], "int | float"]

_POSITIONS = "positions stand in for steps, since not every message has one"


def age_argument(tag: str, age: object) -> Any:
    """A function that gives a message's age, or None."""
    if age is not None and not callable(age):
        raise wrong_type("age", f"{tag}() needs a function of a message for age, got age={got(age)}")
    return age


def query_argument(tag: str, query: object) -> str | None:
    """A question, or None."""
    return None if query is None else text(tag, "query", query)


class Blocks:
    """The messages of one run, by index from 0; nothing of them is changed.

    ``protected`` tells whom no stage drops, ``ages`` how long ago each was said (in steps behind the newest one, or
    what ``age`` gives), ``unit_of`` the messages that stay or go together.
    """

    def __init__(self, tag: str, messages: Sequence[Message], age: Age | None = None) -> None:
        self.messages = messages
        self.units = units(messages)
        self.notes: tuple[str, ...] = ()
        self.by_steps = age is None
        self.ages = self._ages(tag, age)
        self.last_user = last_user(messages)
        self.protected = [
            i >= self.last_user or is_kept_always(message) for i, message in enumerate(messages)
        ]
        self.is_text = [_is_text(message) for message in messages]
        self._unit_of: list[range] = [unit for unit in self.units for _ in unit]
        self._analysed: dict[int, Analysed] = {}
        self._definitions: dict[int, tuple[Definition, ...]] = {}

    def unit_of(self, i: int) -> range:
        """The indexes of the unit that message ``i`` belongs to."""
        return self._unit_of[i]

    def _ages(self, tag: str, age: Age | None) -> list[int | float]:
        if age is not None:
            return [_age(tag, age, message) for message in self.messages]
        steps = [message.step for message in self.messages]
        known = [step for step in steps if step is not None]
        if len(known) < len(steps):
            if known:
                self.notes = (_POSITIONS,)
            known = list(range(len(steps)))
            self.by_steps = False
        newest = max(known, default=0)
        return [newest - step for step in known]

    def spoken(self, i: int) -> Analysed:
        """Text and results of message ``i`` as they are searched."""
        found = self._analysed.get(i)
        if found is None:
            found = self._analysed[i] = analysed(content_of(self.messages[i]))
        return found

    def asked(self, i: int) -> Analysed:
        """The same with what its calls ask for and the names of its attachments."""
        message = self.messages[i]
        if message.attachments or message.calls:
            return analysed(content_of(message, calls=True))
        return self.spoken(i)

    def definitions(self, i: int) -> tuple[Definition, ...]:
        """What message ``i`` defines; labels that may be speakers are among them."""
        found = self._definitions.get(i)
        if found is None:
            found = self._definitions[i] = tuple(find_definitions(content_of(self.messages[i])))
        return found


def _age(tag: str, age: Age, message: Message) -> int | float:
    given = age(message)
    if type(given) is not int and type(given) is not float:
        raise wrong_type(
            "age", f"{tag}(): age() has to give a number, it gave {got(given)} for {message.id!r}"
        )
    if given != given:  # noqa: PLR0124 - NaN: neither old nor young
        raise wrong_value("age", f"{tag}(): age() gave NaN for {message.id!r}")
    return given


def _is_text(message: Message) -> bool:
    """Whether it can be a copy of another: visible text and nothing else, and no bare answer, which would answer
    another question the second time."""
    if message.role == "tool" or message.attachments or not message.parts:
        return False
    if not all(isinstance(part, TextPart) for part in message.parts):
        return False
    said = message.text
    return bool(said) and not said.isspace() and not _is_answer(said)


def _is_answer(said: str) -> bool:
    if len(said) > _LONGEST_ANSWER:
        return False
    folded = fold(said)
    found: Iterable[str] = [*WORD.findall(folded), *CJK_RUN.findall(folded)]
    return all(word in word_list("answers") or word.isnumeric() for word in found)


_LONGEST_ANSWER = 200  # characters: what is longer says more than yes or no


def alike(blocks: Blocks, i: int) -> tuple[object, ...] | None:
    """What two neighbours that say the same have in common; None for what takes no part."""
    if not blocks.is_text[i]:
        return None
    message = blocks.messages[i]
    said = loose(message.text)
    return (message.role, message.name, said) if said else None
