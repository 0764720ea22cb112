"""Types and functions that tools are made of, for tests."""

from __future__ import annotations

import dataclasses
import enum
from typing import Annotated, Any, NewType, NotRequired, Required, TypedDict

import attrs
import pydantic
from typing_extensions import TypeAliasType

NO_PARAMETERS: dict[str, Any] = {"type": "object", "properties": {}}


class Unit(enum.Enum):
    """Degrees of what."""

    CELSIUS = "c"
    FAHRENHEIT = "f"


class Size(enum.IntEnum):
    SMALL = 1
    LARGE = 2


@dataclasses.dataclass
class Place:
    """A place.

    Attributes:
        lat: Degrees north.
    """

    lat: float
    lon: Annotated[float, "Degrees east."] = 0.0
    tags: list[str] = dataclasses.field(default_factory=list[str])
    made: int = dataclasses.field(init=False, default=3)


@attrs.define
class Point:
    x: int
    _y: int = 7
    items: list[int] = attrs.field(factory=list[int])


class Filters(TypedDict, total=False):
    before: Required[int]
    after: int


class Options(TypedDict):
    deep: bool
    note: NotRequired[str]


class Range(pydantic.BaseModel):
    """From and to."""

    low: int
    high: int = pydantic.Field(default=10, description="Inclusive.")


class Query(pydantic.BaseModel):
    """What to look for."""

    text: str
    range: Range | None = None


class Tree(pydantic.BaseModel):
    children: list[Tree] = []


@dataclasses.dataclass
class Folder:
    name: str
    inside: list[Folder] = dataclasses.field(default_factory=list["Folder"])


UserId = NewType("UserId", int)
Ids = TypeAliasType("Ids", list[int])


def search(query: str, limit: int = 5, *, unit: Unit = Unit.CELSIUS, near: Place | None = None) -> str:
    """Look something up.

    Twice, if need be.

    Args:
        query: What to look for.
        limit: How many at most.

    Returns:
        What was found.
    """
    return f"{query!r} {limit!r} {unit!r} {near!r}"
