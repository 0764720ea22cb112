"""Types of props for the tests of their JSON form."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, NewType, TypedDict, TypeVar

import attrs
from pydantic import BaseModel, Field, RootModel, SecretStr

if TYPE_CHECKING:
    from priompt_py.errors import PromptError as Unreadable

T = TypeVar("T")
UserId = NewType("UserId", int)


class Color(enum.Enum):
    RED = "red"
    BLUE = "RED"  # its value is another one's name
    NO_JSON = (1, 2)


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Tone(enum.StrEnum):
    DRY = "dry"


class Access(enum.Flag):
    READ = 1
    WRITE = 2


@dataclasses.dataclass
class Page:
    text: str
    number: int = 1
    parts: tuple[Page, ...] = ()
    size: int = dataclasses.field(init=False, default=7)


@dataclasses.dataclass(frozen=True)
class Note:
    text: str
    DO_NOT_DUMP_client: Any = None


@dataclasses.dataclass
class Box(Generic[T]):
    content: T
    others: Sequence[T] = ()


@attrs.define
class Turn:
    _by: str
    colors: list[Color] = attrs.field(factory=list[Color])


class Point(NamedTuple):
    x: int
    y: float = 0.5


class Options(TypedDict, total=False):
    page: Page
    tone: Tone


class Model(BaseModel):
    name: str = Field(alias="theName")
    pages: list[Page] = []
    inner: Model | None = None


class Names(RootModel[list[str]]):
    pass


class Account(BaseModel):
    password: SecretStr


class Score(BaseModel):
    points: list[float]


class Lossy(BaseModel):
    kept: int = 0
    gone: int = Field(default=0, exclude=True)


@dataclasses.dataclass
class Unread:
    page: Page
    other: Unreadable


class OwnInit:
    """Not a record at all."""


@dataclasses.dataclass(init=False)
class OtherInit:
    text: str

    def __init__(self, words: list[str]) -> None:
        self.text = " ".join(words)
