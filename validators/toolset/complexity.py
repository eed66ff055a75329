"""Tools too complex for requests, and unmanageable resources (HammerBench 4.2, D.1)."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from callwright.generators.catalogs import Problem
from callwright.generators.catalogs.catalog import ProblemKind, check_tool
from callwright.language.names import split_name, words
from callwright.language.text import stem
from callwright.validators.toolset.redundancy import (
    CHANGE,
    CREATE,
    DELETE,
    READ,
    Doing,
    doing_of,
    yields,
)
from callwright.warehouse.records import Decision, DoubtedFact, DoubtKind, JsonSchema, Tool, Verdict

CHECK = "tool_complexity"
VERSION = "1"
# said in one request now and then; catalogs/catalog.py has the number that nobody says
MANY_PARAMETERS = 7
MANY_REQUIRED = 4  # a short request, and most are (HammerBench 4.2.1), says no more
_AGAINST: frozenset[ProblemKind] = frozenset(
    {"too_many_parameters", "too_deep", "undeclared_required"}
)
_ID_WORDS = frozenset({"id", "ids", "uuid", "guid"})
_OWN = frozenset(
    {"user", "profile", "cart", "basket", "member", "owner", "customer", "device", "session", "app"}
)
_SIGN_IN = frozenset(
    {
        "token",
        "credential",
        "credentials",
        "auth",
        "authorization",
        "authentication",
        "apikey",
        "session",
    }
)
# What people are told of a tool, and of what the tools of a category let nobody do.
TOOL_DOUBTS = {
    "tool_undescribed": "The tool has no description.",
    "parameter_undescribed": "Not every parameter has a description that says what it is for.",
    "required_undeclared": "A parameter is required that is not declared.",
    "one_choice": "A parameter allows one single value.",
    "parameters_many": "{value} parameters are more than people keep apart.",
    "parameters_deep": "The parameters are nested more deeply than anybody can say.",
    "parameters_several": "With {value} parameters it takes more than people give at most.",
    "required_several": "{value} parameters are required; few requests say as much.",
    "parameters_nested": "Objects have to be said for {name}; plain values are said more easily.",
    "signs_in": "{name} signs the user in; who asks a phone for something is signed in.",
    "only_one": "{name} is not needed: the user has only one.",
    "not_yet_made": "{name} names what the tool is only about to make.",
    "id_unknown": (
        "No tool of the category tells what {name} is, and people do not know such numbers."
    ),
    "unmanaged": "No tool of the category lets anybody {other} what {tool} makes ({name}).",
}
# What problems of a tool by itself are as facts.
_FACTS: Mapping[ProblemKind, DoubtKind] = MappingProxyType(
    {
        "no_description": "tool_undescribed",
        "undescribed_parameter": "parameter_undescribed",
        "too_deep": "parameters_deep",
        "undeclared_required": "required_undeclared",
        "single_choice": "one_choice",
        "too_many_parameters": "parameters_many",
    }
)
_MANAGED = MappingProxyType(
    {READ: ("shown", "show"), CHANGE: ("changed", "change"), DELETE: ("deleted", "delete")}
)
# Not every verb that makes something makes a thing to be kept.
_CREATORS = frozenset(
    words(
        "create add make new write record log schedule book reserve order save register insert"
        " draft post publish upload bookmark favorite favourite collect subscribe set"
    )
)
_BOOKED = frozenset(map(stem, ("booking", "reservation", "order")))
_ONTO = frozenset({"to", "into", "on"})


class Doubt(NamedTuple):
    """A weakness of a tool, and whether it contradicts the tool or only makes it doubtful."""

    decision: Decision
    message: str
    fact: DoubtedFact


def check_complexity(tools: Sequence[Tool]) -> list[Verdict]:
    """Check whether each tool can be called from what people say, beside the other tools."""
    company = _companies(tools)
    return [
        _verdict(tool, list(doubts_about(tool, company[tool.category, tool.language])))
        for tool in tools
    ]


def doubts_about(tool: Tool, company: Sequence[Tool]) -> Iterator[Doubt]:
    """Yield every reason to think the tool too complex, beside the tools of its category."""
    for problem in check_tool(tool):
        fact = DoubtedFact(kind=_FACTS[problem.kind], tool=tool.name, value=len(tool.properties))
        yield Doubt(
            "contradicted" if problem.kind in _AGAINST else "unproved", problem.message, fact
        )
    yield from hard_to_say(tool, company)


def hard_to_say(tool: Tool, company: Sequence[Tool]) -> Iterator[Doubt]:
    """Yield what is valid in the tool, but hard to say or needless to ask for."""
    count, required = len(tool.properties), len(tool.required)
    if count > MANY_PARAMETERS:
        message = (
            f"{count} parameters are more than the {MANY_PARAMETERS} that people give at most."
        )
        yield _doubt("parameters_several", message, value=count)
    if required > MANY_REQUIRED:
        message = f"{required} parameters are required; few requests say more than {MANY_REQUIRED}."
        yield _doubt("required_several", message, value=required)
    nested = [name for name, schema in tool.properties.items() if _is_nested(schema)]
    if nested:
        message = (
            f"Objects have to be said for {', '.join(map(repr, nested))}; plain values are said"
            " more easily."
        )
        yield _doubt("parameters_nested", message, ", ".join(nested))
    for name in tool.properties:
        yield from _needless(name, tool, company)


def _needless(name: str, tool: Tool, company: Sequence[Tool]) -> Iterator[Doubt]:
    words = split_name(name)
    if _SIGN_IN & set(words) or words[-2:] == ("api", "key"):
        yield _doubt(
            "signs_in",
            f"{name!r} signs the user in; who asks a phone for something is signed in.",
            name,
        )
        return
    if not words or words[-1] not in _ID_WORDS:
        return
    thing = {stem(word) for word in words[:-1]}
    doing = doing_of(tool.name, tool.description)
    if thing & {stem(word) for word in _OWN}:
        yield _doubt("only_one", f"{name!r} is not needed: the user has only one.", name)
    elif CREATE in doing.kinds and thing and thing <= {stem(doing.head)}:
        yield _doubt("not_yet_made", f"{name!r} names what the tool is only about to make.", name)
    elif not any(_tells(other, name, thing) for other in company if other.key != tool.key):
        message = (
            f"No tool of the category tells what {name!r} is, and people don't know such numbers."
        )
        yield _doubt("id_unknown", message, name)


def _doubt(kind: DoubtKind, message: str, argument: str = "", value: int | None = None) -> Doubt:
    return Doubt("unproved", message, DoubtedFact(kind=kind, argument=argument, value=value))


def _tells(tool: Tool, name: str, thing: set[str]) -> bool:
    """Whether the tool's result contains the identifier `name` of a `thing`."""
    if name in tool.properties:
        return False
    if _mentions(tool.returns, name):
        return True
    doing = doing_of(tool.name, tool.description)
    return READ in doing.kinds and bool(thing) and thing <= set(doing.resource)


def _mentions(schema: object, name: str) -> bool:
    if isinstance(schema, dict):
        return name in schema.get("properties", {}) or any(
            _mentions(inside, name) for inside in schema.values()
        )
    return isinstance(schema, list) and any(_mentions(inside, name) for inside in schema)


def _is_nested(schema: JsonSchema) -> bool:
    items = schema.get("items")
    return "properties" in schema or (
        isinstance(items, dict) and ("properties" in items or "items" in items)
    )


def _verdict(tool: Tool, doubts: Sequence[Doubt]) -> Verdict:
    worst = sorted(doubts, key=lambda doubt: doubt.decision != "contradicted")
    decision: Decision = worst[0].decision if worst else "proved"
    reason, facts = " ".join(doubt.message for doubt in worst), tuple(doubt.fact for doubt in worst)
    return Verdict(
        subject=tool.key,
        check=CHECK,
        decision=decision,
        reason=reason,
        doubts=facts,
        version=VERSION,
    )


class _Gap(NamedTuple):
    """A thing that a tool creates, and what no tool of the category does with it."""

    tool: Tool
    thing: str
    missing: list[str]


def find_gaps(tools: Sequence[Tool]) -> list[Problem]:
    """Return what each category can create but not show, change or delete, one per resource."""
    problems: dict[str, Problem] = {}  # said once, whatever the languages
    for tool, thing, lacking in (
        gap for group in _companies(tools).values() for gap in _gaps(group)
    ):
        missing = " or ".join(_MANAGED[kind][0] for kind in lacking)
        message = (
            f"What {tool.name!r} creates ({thing}) can't be {missing} by any tool of the category."
        )
        problem = Problem(where=tool.category, tool=tool.name, kind="crud_gap", message=message)
        problems[problem.key] = problem
    return list(problems.values())


def _companies(tools: Sequence[Tool]) -> Mapping[tuple[str, str], list[Tool]]:
    """Return the tools by category and language."""
    groups: dict[tuple[str, str], list[Tool]] = defaultdict(list)
    for tool in tools:
        groups[tool.category, tool.language].append(tool)
    return groups


def gap_facts(category: Sequence[Tool]) -> list[DoubtedFact]:
    """Return what tools of one category create and none shows, changes or deletes, as facts."""
    return [
        DoubtedFact(
            kind="unmanaged",
            tool=gap.tool.name,
            argument=gap.thing,
            other=[_MANAGED[kind][1] for kind in gap.missing],
        )
        for gap in _gaps(category)
    ]


def _gaps(group: Sequence[Tool]) -> Iterator[_Gap]:
    doings = [doing_of(tool.name, tool.description) for tool in group]
    known_words: set[frozenset[str]] = set()
    for tool, doing in zip(group, doings, strict=True):
        created_words = _created(tool, doing, doings)
        if not created_words or created_words in known_words:
            continue
        known_words.add(created_words)
        missing = [
            kind
            for kind in _MANAGED
            if not any(_manages(other, kind, created_words, doing) for other in doings)
        ]
        if missing:
            yield _Gap(tool, yields(doing) or doing.head, missing)


def _created(tool: Tool, doing: Doing, doings: Sequence[Doing]) -> frozenset[str]:
    """Return the words for what the tool creates, or none if it creates nothing lasting."""
    if doing.verb not in _CREATORS or not doing.head:
        return frozenset()
    if doing.verb in {"add", "save"} and _ONTO & set(split_name(tool.name.rsplit(".", 1)[-1])):
        return frozenset()  # a song into a playlist changes the playlist
    created_words = frozenset({stem(yields(doing) or doing.head)})
    if doing.verb == "set" and not any(
        DELETE in other.kinds and created_words & set(other.resource) for other in doings
    ):
        return frozenset()  # the volume is set; an alarm is set, and deleted
    return _BOOKED if created_words & _BOOKED else created_words


def _manages(other: Doing, kind: str, made: frozenset[str], creating: Doing) -> bool:
    if kind not in other.kinds or other.verb == "set":
        return False
    # who shows rooms need not show bookings
    things = made if kind == READ else made | {stem(creating.head)}
    return bool(things & set(other.resource)) or (
        kind != READ and other.verb == "rebook" and bool(made & _BOOKED)
    )
