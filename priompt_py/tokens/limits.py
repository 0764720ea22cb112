"""The prompt's limit: one place that works it out from a model's window, the answer's size and limits that were given."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from priompt_py.errors import ArgumentTypeError, ArgumentValueError
from priompt_py.tokens.models import model_info

__all__ = ["LimitChoice", "limit_for"]


@attrs.frozen
class LimitChoice:
    """``limit``: the tokens that the prompt may have. ``reason``: which setting decided, for people."""

    limit: int
    reason: str


def limit_for(
    *,
    model: str | None = None,
    window: int | None = None,
    answer: int = 0,
    limits: Iterable[int | None | tuple[str, int | None]] = (),
) -> LimitChoice:
    """The least of the ``limits`` and of ``window - answer``; of equals the first is named.

    ``window`` is the model's own when only ``model`` is given; ``answer`` is how many tokens the answer is to have.
    ``limits`` are limits from anywhere (a call, a config, a command line), each a number or a pair of name and number;
    ``None`` is not given. The size of an answer is never taken for a limit.

    Raises :class:`ArgumentValueError` if nothing gives a limit, if a number is below 0, if the answer is larger than the
    window or than what the model can write; :class:`ArgumentTypeError` for what is no int; :class:`TokenizerError` if the
    model is not known.
    """
    info = None if model is None else model_info(model)
    _check("answer", answer)
    choices: list[LimitChoice] = []
    for number, given in enumerate(limits, 1):
        name, limit = given if isinstance(given, tuple) else (f"limit {number}", given)
        if limit is not None:
            choices.append(LimitChoice(_check(name, limit), f"{name} ({limit})"))
    if info is not None and info.max_answer is not None and answer > info.max_answer:
        raise ArgumentValueError(f"{model} writes at most {info.max_answer} tokens, answer={answer} is more")
    whose = "window"
    if window is None and info is not None:
        window, whose = info.window, f"window of {model}"
    if window is not None:
        room = _check("window", window) - answer
        if room < 0:
            raise ArgumentValueError(f"no room for a prompt: answer={answer} is over the {whose} of {window}")
        choices.append(
            LimitChoice(room, f"{whose} ({window}) - answer ({answer})" if answer else f"{whose} ({window})")
        )
    if info is not None and info.max_prompt is not None:
        choices.append(LimitChoice(info.max_prompt, f"longest prompt of {model} ({info.max_prompt})"))
    if not choices:
        unknown = f"the window of {model} is not known" if model is not None else "no model, no window"
        raise ArgumentValueError(f"a prompt needs a limit: {unknown}, and no limit was given")
    return min(choices, key=lambda choice: choice.limit)


def _check(name: str, number: object) -> int:
    if isinstance(number, bool) or not isinstance(number, int):
        raise ArgumentTypeError(
            f"{name} is a number of tokens (int), got {number!r} ({type(number).__name__})"
        )
    if number < 0:
        raise ArgumentValueError(f"{name} is a number of tokens of 0 or more, got {number}")
    return number
