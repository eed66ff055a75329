"""Several calls in one message: each is a request of its own, led into from the one before."""

from collections.abc import Mapping, Sequence
from random import Random

from pydantic import JsonValue

from callwright.language.calls.tools import ToolView, view_of
from callwright.language.packs import of
from callwright.language.pages import filled, shapes_in
from callwright.llm.template.sections import Sections
from callwright.llm.template.sentences import word_request
from callwright.llm.template.stating import lowered
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Language

_TRIES = 12


def word_parallel(sections: Sections, language: Language, rng: Random) -> dict[str, JsonValue]:
    """Return the message for <calls> of <tools>, and the part of it that is about each call."""
    calls = [(_view(call, sections), call["arguments"], "") for call in sections.listed("calls")]
    parts: list[JsonValue] = [*_word_each(calls, language, rng)]
    return {"request": of(language).space.join(map(str, parts)), "parts": parts}


def word_routing(sections: Sections, language: Language, rng: Random) -> str:
    """Return the message for <calls>, naming a value that an earlier call finds."""
    calls: list[tuple[ToolView, dict[str, JsonValue], str]] = []
    for call in sections.listed("calls"):
        view, sources = _view(call, sections), call["arguments"].items()
        said_values = {
            name: source["value"] for name, source in sources if source["kind"] == "said"
        }
        result_titles = [
            view.parameter(name).called(language)
            for name, source in sources
            if source["kind"] != "said"
        ]
        calls.append((view, said_values, of(language).last.join(result_titles)))
    return of(language).space.join(_word_each(calls, language, rng))


def _view(call: Mapping[str, JsonValue], sections: Sections) -> ToolView:
    found = (tool for tool in sections.listed("tools") if tool.get("name") == call["tool"])
    shown = next(found, None)
    if shown is None:
        raise ReplyError(f"template/v1 finds no tool {call['tool']!r} in <tools>.")
    return view_of(shown)


def _word_each(
    calls: Sequence[tuple[ToolView, dict[str, JsonValue], str]], language: Language, rng: Random
) -> list[str]:
    """Return a request for each call; each call is given with what it takes from results."""
    leads, begins, ends = (
        shapes_in(language, f"parallel.{name}") for name in ("leads", "begins", "ends")
    )
    if not leads:
        problem = f"template/v1 has no phrases for several requests in the language {language!r}."
        raise ReplyError(problem)
    last, linked = len(calls) - 1, shapes_in(language, "conversations.linked")
    parts: list[str] = []
    for at, ((view, arguments, result_titles), lead) in enumerate(
        zip(calls, ["", *rng.sample(leads, last)], strict=True)
    ):
        text = ""
        for _ in range(_TRIES):
            text = word_request(view, arguments, language, rng).request
            # nobody greets in the middle of a message nor thanks before its end
            if (at == 0 or not text.startswith(begins)) and (at == last or not text.endswith(ends)):
                break
        if not at:
            parts.append(text)
        elif result_titles:
            entry = filled(
                rng.choice(linked),
                {"called": result_titles, "request": lowered(text, arguments.values())},
            )
            parts.append(entry)
        else:
            parts.append(filled(lead, {"request": lowered(text, arguments.values())}))
    return parts
