"""Prompts for a request with slots as the stages render them, and replies with values put in."""

from random import Random

from callwright.generators.slots import (
    Filled,
    Slot,
    SlottedRequest,
    fill,
    slots_of,
    wording_problem,
)
from callwright.generators.wording import ONE, PROMPTS, AskedCall
from callwright.llm.chat import Prompt
from callwright.llm.prompts import render
from callwright.warehouse.records import Arguments, Language, Tool


def slots_for(tool: Tool, arguments: Arguments, seed: int = 0) -> tuple[Slot, ...]:
    return slots_of([(tool, arguments)], tool.language, "written", Random(seed))


def slotted_prompt(
    tool: Tool, arguments: Arguments, seed: int, language: Language | None = None
) -> Prompt:
    slots = slots_for(tool, arguments, seed)
    return render(
        PROMPTS,
        ONE,
        tasks=[{"task": AskedCall(tool, {}).task, "lines": [one.line for one in slots]}],
        calls=[{"tool": tool.sayable, "slots": [one.marked for one in slots], "found": []}],
        language=language or tool.language,
        seed=seed,
    )


def filled_reply(text: str, tool: Tool, arguments: Arguments, seed: int = 0) -> Filled:
    """What a reply says with its values; it must be usable."""
    slots = slots_for(tool, arguments, seed)
    request = SlottedRequest.model_validate_json(text).request
    assert wording_problem(request, slots, tool.language) == ""
    return fill(request, slots)
