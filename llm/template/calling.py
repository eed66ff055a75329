"""The call that a conversation asks for, as a checker or a candidate makes it."""

from collections.abc import Sequence

from pydantic import JsonValue

from language.calls.choosing import choose_tool
from language.calls.defects import Proposal
from language.calls.messages import resolve_pointers
from language.calls.parsing import read_conversation
from language.calls.tools import ToolView, view_of
from llm.template.sections import Sections
from warehouse.errors import ReplyError


def shown_views(sections: Sections) -> list[ToolView]:
    """The tools of the section <tools>; ReplyError where it is not a list of tools."""
    tools = sections.json("tools")
    if not isinstance(tools, list):
        raise ReplyError("template/v1 expects a JSON list of tools in the section <tools>.")
    return [view_of(tool) for tool in tools]


def propose(sections: Sections, views: Sequence[ToolView]) -> Proposal:
    """The tool to call and its arguments; no tool where none fits."""
    turns = resolve_pointers(sections.turns())
    view = choose_tool(views, turns)
    return Proposal(None, {}) if view is None else Proposal(view.name, read_conversation(view, turns))


def name_relevant(sections: Sections, views: Sequence[ToolView]) -> dict[str, JsonValue]:
    """The tool that can do what is asked, null where none can, with the reason."""
    view = choose_tool(views, resolve_pointers(sections.turns()))
    if view is None:
        return {"tool": None, "reason": "None of the tools does what the user asks for."}
    return {"tool": view.name, "reason": f"The user asks to {view.actions[0]}, and that is what this tool does."}
