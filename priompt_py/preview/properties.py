"""What a check of a budget promises, a function each: how a property is broken at a limit, or None."""

from __future__ import annotations

from priompt_py.errors import PromptError, ProviderError
from priompt_py.face.rendered import Rendered
from priompt_py.model.elements import First, Scope
from priompt_py.model.outcome import Decision
from priompt_py.model.source_map import Span
from priompt_py.model.values import short_repr
from priompt_py.preview.picture import changed, picture
from priompt_py.preview.settle import Called
from priompt_py.preview.trial import Moment, Property
from priompt_py.template.source import near

__all__ = ["PROPERTIES"]


def _fits(now: Moment) -> str | None:
    return None if now.here.error is None or now.trial.allow_too_long else str(now.here.error)


def _within(now: Moment) -> str | None:
    found = now.here.rendered
    if found is None:
        return None
    whole = found.token_count + found.tokens_reserved
    if whole > now.here.token_limit:
        reserved = f" and reserves {found.tokens_reserved}" if found.tokens_reserved else ""
        return f"the prompt has {found.token_count} tokens{reserved}, which is {whole - now.here.token_limit} too many"
    if found.token_limit != now.here.token_limit:
        return f"the prompt says that its limit is {found.token_limit}"
    return None


def _counts(now: Moment) -> str | None:
    found = now.here.rendered
    if found is None or found.count_kind != "exact":
        return None
    try:
        ids = len(found.to_tokens())
    except ProviderError as error:  # images, parts and tools have none, nor have some tokenizers
        return str(error) if "don't agree" in str(error) else None
    except PromptError:
        return None
    return None if ids == found.token_count else f"its count is {found.token_count}, its ids are {ids}"


def _refuses(now: Moment) -> str | None:
    error = now.here.error
    if error is None:
        return None
    if now.here.calls:
        return f"a callback was called ({_call(now.here.calls[0])}), though the prompt is too long"
    if error.element is not None or error.required_limit is None:
        return None
    needed = error.required_limit
    if needed <= now.here.token_limit:
        return f"it is refused, and the error says that a limit of {needed} works"
    if now.trial.at(needed, callbacks=False).error is not None:
        return f"the error says that a limit of {needed} works, which it doesn't"
    if needed > 0 and now.trial.at(needed - 1, callbacks=False).error is None:
        return f"the error says that {needed} is the smallest limit that works, and {needed - 1} works too"
    return None


def _kept(now: Moment) -> str | None:
    if now.here.rendered is None:
        return None
    labels = now.here.labels
    for wanted in now.trial.must_keep:
        if wanted not in labels:
            known = near(wanted, labels) or f"; its labels are {', '.join(labels) or 'none'}"
            return f"nothing in the prompt is called {wanted!r}{known}"
        if not labels[wanted]:
            lost = next(d for d in now.here.rendered.decisions if d.label == wanted)
            return f"{wanted!r} is left out: {_why(lost, now.here.rendered)}"
    return None


def _why(lost: Decision, found: Rendered) -> str:
    match lost.reason:
        case "below_cutoff":
            return f"its priority is {lost.priority}, the cutoff is {found.cutoff} ({lost.path})"
        case "parent_out":
            return f"what it stands in is left out; the cutoff is {found.cutoff} ({lost.path})"
        case "not_chosen":
            return f"another alternative was chosen ({lost.path})"
        case "over_max":
            return f"it doesn't fit under the ceiling around it ({lost.path})"
        case _:
            return f"a tool call and its result go together ({lost.path})"


def _repeats(now: Moment) -> str | None:
    again = now.trial.at(now.here.token_limit, callbacks=False)
    if again.calls:
        return f"a callback was called ({_call(again.calls[0])}) by a render with callbacks=False"
    if (again.error is None) != (now.here.error is None):
        return "one render says that the prompt is too long, another one gives it"
    one, other = now.here.rendered, again.rendered
    if one is None or other is None:
        return None
    for name in ("token_count", "tokens_reserved", "cutoff", "text", "messages", "tools", "config"):
        first, second = getattr(one, name), getattr(other, name)
        if first != second:
            return f"its {name} is {short_repr(first)}, and {short_repr(second)} the second time"
    if [d.included for d in one.decisions] != [d.included for d in other.decisions]:
        return "other elements are in the second time"
    return None


def _tree_unchanged(now: Moment) -> str | None:
    picture_before = picture(now.trial.tree.children, "the tree")
    now.trial.at(now.here.token_limit, callbacks=False)
    place = changed(picture_before, picture(now.trial.tree.children, "the tree"))
    return None if place is None else f"rendering changed {place}"


def _callbacks(now: Moment) -> str | None:
    if now.here.rendered is None:
        return None
    wanted: list[Called] = [
        ("include" if decision.included else "eject", decision.path)
        for decision in now.here.rendered.decisions
        if decision.kind in (Scope.kind, First.kind)
    ]
    if list(now.here.calls) == wanted:
        return None
    for call in dict.fromkeys([*wanted, *now.here.calls]):
        times, due = now.here.calls.count(call), wanted.count(call)
        if times != due:
            return f"{_call(call)} was called {_times(times)}, not {_times(due)}"
    return "callbacks are not called in document order"


def _call(call: Called) -> str:
    return f"on_{call[0]} of {call[1] or 'an element'}"


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _source_map(now: Moment) -> str | None:
    if now.here.rendered is None:
        return None
    text, found = now.here.rendered.to_text(), now.here.rendered.source_map
    if found is None:
        return "there is no source map, though one was asked for"
    if found.text != text:
        return "its text is not that of to_text()"
    if (found.root.start, found.root.end) != (0, len(text)):
        return f"it covers {found.root.start} to {found.root.end} of {len(text)} characters"
    return next((fault for span in found.walk() if (fault := _span(span, text))), None)


def _span(span: Span, text: str) -> str | None:
    at = span.start
    for child in span.children:
        if not at <= child.start <= child.end <= span.end:
            return f"{child.path} stands at {child.start} to {child.end}, outside of its place in {span.path}"
        if child.start > at:
            return f"{short_repr(text[at : child.start])} comes from nothing inside {span.path}"
        at = child.end
    if span.children and at < span.end:
        return f"{short_repr(text[at : span.end])} comes from nothing inside {span.path}"
    return None


def _pairs(now: Moment) -> str | None:
    if now.here.rendered is None or now.trial.how.get("pair_tools") is False:
        return None
    waiting: dict[str | None, None] = {}
    for message in now.here.rendered.messages or ():
        for call in message.tool_calls:
            if call.id in waiting:
                return f"two tool calls have the id {call.id!r}"
            waiting[call.id] = None
        if message.role == "tool":
            if message.tool_call_id not in waiting:
                return f"the result of {message.tool_call_id!r} is in without its call"
            del waiting[message.tool_call_id]
    if waiting:
        return f"the call {next(iter(waiting))!r} is in without its result"
    return None


def _grows(now: Moment) -> str | None:
    before, here = now.before, now.here
    if before is None or before.rendered is None or now.trial.tree.is_relative:
        return None
    if here.rendered is None:
        return f"it is too long, and is not at {before.token_limit}"
    after = {decision.path: decision for decision in here.rendered.decisions}
    free: list[str] = []  # what may go: alternatives, and what stands in a tool unit whose result is one
    for decision in before.rendered.decisions:
        path = decision.path
        if any(path.startswith(parent) for parent in free):
            continue
        later = after.get(path)
        if decision.kind in ("first", "fallback") or (later is not None and later.reason == "pair_out"):
            free.append(f"{path} > ")
        elif decision.kind == Scope.kind and decision.included and (later is None or not later.included):
            return f"{path} is left out, and is in at {before.token_limit}"
    return None


PROPERTIES = (
    Property("fits", "the prompt fits every limit", _fits, by_limit=True),
    Property("within", "what is rendered stays within its limit, with what it reserves", _within),
    Property("count", "the count is the number of token ids", _counts),
    Property(
        "refusal", "a prompt that is too long is refused, and the smallest limit that works is told", _refuses
    ),
    Property("kept", "what must be kept is in at every limit at which the prompt fits", _kept, by_limit=True),
    Property("twice", "rendering twice gives the same", _repeats),
    Property("tree", "rendering changes nothing in the tree", _tree_unchanged),
    Property("callbacks", "every callback is called once, for the right fate, in document order", _callbacks),
    Property("pairs", "tool calls and their results stay together", _pairs),
    Property("source map", "the spans of the source map cover the text", _source_map),
    Property("growth", "a higher limit never loses a scope that stands in no first", _grows),
)
"""In the order in which they are looked at."""
