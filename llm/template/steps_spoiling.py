"""Steps with one defect: a call left out or too many, made too late, or with a wrong value or type."""

from collections.abc import Callable, Sequence
from random import Random

from pydantic import JsonValue

from language.calls.defects import (
    HALLUCINATED_VALUE,
    NEEDLESS_CALL,
    OMITTED_CALL,
    WRONG_ORDER,
    WRONG_TYPE,
    Proposal,
    spoil_call,
)
from language.calls.tools import ToolView
from llm.template.calling import shown_views
from llm.template.sections import Sections
from llm.template.steps_calling import DONE, NextStep, next_step
from llm.template.steps_tools import Toolbox, read_toolbox

StepCall = tuple[str, dict[str, JsonValue]]
_UNASKED = "Springfield"
_SHORTEST_CODE = 4


def next_calls(sections: Sections, defect: str, rng: Random) -> tuple[JsonValue, str]:
    """The reply for the next step, with the defect that is in it, "" where none is."""
    step = next_step(sections)
    toolbox = read_toolbox(sections.json("tools"))
    spoilt = spoil_step(defect, step, toolbox, shown_views(sections), rng) if defect else None
    return (spoilt or step).reply(), defect if spoilt else ""


def spoil_step(
    defect: str, step: NextStep, toolbox: Toolbox, views: Sequence[ToolView], rng: Random
) -> NextStep | None:
    """The step with this defect in it, None where it can't be made of this step."""
    if not step.calls:
        return None
    spoil = _SPOILERS.get(defect)
    if spoil is not None:
        return spoil(step, toolbox, rng)
    at = rng.randrange(len(step.calls))
    name, arguments = step.calls[at]
    spoilt = spoil_call(defect, Proposal(name, dict(arguments)), views, "en", rng)
    if spoilt is None or spoilt.tool is None or (spoilt.tool, spoilt.arguments) == step.calls[at]:
        return None
    return _with(step, at, (spoilt.tool, dict(spoilt.arguments)))


def _omitted(step: NextStep, toolbox: Toolbox, rng: Random) -> NextStep | None:
    """What is left to do is not done: the answer comes too early."""
    return NextStep((), DONE)


def _needless(step: NextStep, toolbox: Toolbox, rng: Random) -> NextStep | None:
    made = {name for name, _ in step.calls}
    lookups = [name for name in toolbox.tools if toolbox.is_lookup(name) and name not in made]
    if not lookups:
        return None
    name = rng.choice(lookups)
    call: StepCall = (name, {toolbox.tools[name].query: _UNASKED})
    return step._replace(calls=(*step.calls, call))


def _late(step: NextStep, toolbox: Toolbox, rng: Random) -> NextStep | None:
    """One of several calls has to wait for the next step."""
    if len(step.calls) < 2:  # noqa: PLR2004 - there must be one to make now and one to put off
        return None
    late = rng.randrange(len(step.calls))
    return step._replace(calls=tuple(call for at, call in enumerate(step.calls) if at != late))


def _mistyped(step: NextStep, toolbox: Toolbox, rng: Random) -> NextStep | None:
    places = [
        (at, name)
        for at, (_, arguments) in enumerate(step.calls)
        for name, value in arguments.items()
        if isinstance(value, str | int | float) and not isinstance(value, bool)
    ]
    if not places:
        return None
    at, name = rng.choice(places)
    tool, arguments = step.calls[at]
    value = arguments[name]
    wrong: JsonValue = [value] if isinstance(value, str) else str(value)
    return _with(step, at, (tool, {**arguments, name: wrong}))


def _made_up(step: NextStep, toolbox: Toolbox, rng: Random) -> NextStep | None:
    """An identifier that no response gave, of the looks of the right one; else whatever text there is, made up."""
    places = [
        (at, name)
        for at, (_, arguments) in enumerate(step.calls)
        for name, value in arguments.items()
        if isinstance(value, str) and len(value) >= _SHORTEST_CODE
    ]
    hidden = [(at, name) for at, name in places if toolbox.origins(step.calls[at][0], name)]
    if not places:
        return None
    at, name = rng.choice(hidden or places)
    tool, arguments = step.calls[at]
    letters = list(str(arguments[name]))
    rng.shuffle(letters)
    made_up = "".join(letters)
    return None if made_up == arguments[name] else _with(step, at, (tool, {**arguments, name: made_up}))


def _with(step: NextStep, at: int, call: StepCall) -> NextStep:
    return step._replace(calls=(*step.calls[:at], call, *step.calls[at + 1 :]))


_SPOILERS: dict[str, Callable[[NextStep, Toolbox, Random], NextStep | None]] = {
    OMITTED_CALL: _omitted,
    NEEDLESS_CALL: _needless,
    WRONG_ORDER: _late,
    WRONG_TYPE: _mistyped,
    HALLUCINATED_VALUE: _made_up,
}
