"""Tools that are more complex than a request can state, and resources that a category lets nobody manage (HammerBench 4.2, D.1)."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from generators.catalogs import Problem
from generators.catalogs.catalog import ProblemKind
from generators.catalogs.checks import check_tool
from language.names import split_name, words
from language.vocabulary import stem
from validators.toolset.actions import CHANGE, CREATE, DELETE, READ, Doing, doing_of, yields
from warehouse.records import Decision, JsonSchema, Tool, Verdict

CHECK = "tool_complexity"
VERSION = "1"
MANY_PARAMETERS = 7  # said in one request now and then; catalogs/checks.py has the number that nobody says
MANY_REQUIRED = 4  # a short request, and most are (HammerBench 4.2.1), says no more
_AGAINST: frozenset[ProblemKind] = frozenset({"too_many_parameters", "too_deep", "undeclared_required"})
_ID_WORDS = frozenset({"id", "ids", "uuid", "guid"})
_OWN = frozenset({"user", "profile", "cart", "basket", "member", "owner", "customer", "device", "session", "app"})
_SIGN_IN = frozenset(
    {"token", "credential", "credentials", "auth", "authorization", "authentication", "apikey", "session"}
)
_MANAGED = ((READ, "shown"), (CHANGE, "changed"), (DELETE, "deleted"))
# Not every verb that makes something makes a thing to be kept.
_CREATORS = frozenset(
    words(
        "create add make new write record log schedule book reserve order save register insert draft post publish upload"
        " bookmark favorite favourite collect subscribe set"
    )
)
_BOOKED = frozenset(map(stem, ("booking", "reservation", "order")))
_ONTO = frozenset({"to", "into", "on"})


class Doubt(NamedTuple):
    """A weakness of a tool, and whether it speaks against the tool or only makes it doubtful."""

    decision: Decision
    message: str


def check_complexity(tools: Sequence[Tool]) -> list[Verdict]:
    """Whether each tool can be called from what people say; the tools are one another's company."""
    company: dict[tuple[str, str], list[Tool]] = defaultdict(list)
    for tool in tools:
        company[tool.category, tool.language].append(tool)
    return [_verdict(tool, list(doubts_about(tool, company[tool.category, tool.language]))) for tool in tools]


def doubts_about(tool: Tool, company: Sequence[Tool]) -> Iterator[Doubt]:
    """Every reason to think the tool too complex, beside the tools of its category."""
    for problem in check_tool(tool):
        yield Doubt("contradicted" if problem.kind in _AGAINST else "unproved", problem.message)
    yield from hard_to_say(tool, company)


def hard_to_say(tool: Tool, company: Sequence[Tool]) -> Iterator[Doubt]:
    """What in the tool is sound by itself, but hard to say or needless to ask for."""
    count, required = len(tool.properties), len(tool.required)
    if count > MANY_PARAMETERS:
        yield Doubt("unproved", f"{count} parameters are more than the {MANY_PARAMETERS} that people give at most.")
    if required > MANY_REQUIRED:
        yield Doubt("unproved", f"{required} parameters are required; few requests say more than {MANY_REQUIRED}.")
    nested = [name for name, schema in tool.properties.items() if _is_nested(schema)]
    if nested:
        yield Doubt("unproved", f"Objects have to be said for {_listed(nested)}; plain values are said more easily.")
    for name in tool.properties:
        yield from _needless(name, tool, company)


def _needless(name: str, tool: Tool, company: Sequence[Tool]) -> Iterator[Doubt]:
    words = split_name(name)
    if _SIGN_IN & set(words) or words[-2:] == ("api", "key"):
        yield Doubt("unproved", f"{name!r} signs the user in; who asks a phone for something is signed in.")
        return
    if not words or words[-1] not in _ID_WORDS:
        return
    thing = {stem(word) for word in words[:-1]}
    doing = doing_of(tool.name, tool.description)
    if thing & {stem(word) for word in _OWN}:
        yield Doubt("unproved", f"{name!r} is not needed: the user has only one.")
    elif CREATE in doing.kinds and thing and thing <= {stem(doing.head)}:
        yield Doubt("unproved", f"{name!r} names what the tool is only about to make.")
    elif not any(_tells(other, name, thing) for other in company if other.key != tool.key):
        yield Doubt("unproved", f"No tool of the category tells what {name!r} is, and people don't know such numbers.")


def _tells(tool: Tool, name: str, thing: set[str]) -> bool:
    """Whether the tool's result holds the identifier `name` of a `thing`."""
    if name in tool.properties:
        return False
    if _mentions(tool.returns, name):
        return True
    doing = doing_of(tool.name, tool.description)
    return READ in doing.kinds and bool(thing) and thing <= set(doing.resource)


def _mentions(schema: object, name: str) -> bool:
    if isinstance(schema, dict):
        return name in schema.get("properties", {}) or any(_mentions(inside, name) for inside in schema.values())
    return isinstance(schema, list) and any(_mentions(inside, name) for inside in schema)


def _is_nested(schema: JsonSchema) -> bool:
    items = schema.get("items")
    return "properties" in schema or (isinstance(items, dict) and ("properties" in items or "items" in items))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names)


def _verdict(tool: Tool, doubts: Sequence[Doubt]) -> Verdict:
    against = [doubt for doubt in doubts if doubt.decision == "contradicted"]
    decision: Decision = "contradicted" if against else "unproved" if doubts else "proved"
    reason = " ".join(doubt.message for doubt in sorted(doubts, key=lambda doubt: doubt.decision != "contradicted"))
    return Verdict(subject=tool.key, check=CHECK, decision=decision, reason=reason, version=VERSION)


def find_gaps(tools: Sequence[Tool]) -> list[Problem]:
    """For each category, what can be created but not shown, changed or deleted; one finding a resource."""
    groups: dict[tuple[str, str], list[Tool]] = defaultdict(list)
    for tool in tools:
        groups[tool.category, tool.language].append(tool)
    found = [problem for group in groups.values() for problem in _gaps(group)]
    return list({problem.key: problem for problem in found}.values())  # said once, whatever the languages


def _gaps(group: Sequence[Tool]) -> Iterator[Problem]:
    doings = [doing_of(tool.name, tool.description) for tool in group]
    known: set[frozenset[str]] = set()
    for tool, doing in zip(group, doings, strict=True):
        made = _created(tool, doing, doings)
        if not made or made in known:
            continue
        known.add(made)
        missing = [word for kind, word in _MANAGED if not any(_manages(other, kind, made, doing) for other in doings)]
        if missing:
            thing = yields(doing) or doing.head
            message = (
                f"What {tool.name!r} creates ({thing}) can't be {_alternatives(missing)} by any tool of the category."
            )
            yield Problem(where=tool.category, tool=tool.name, kind="crud_gap", message=message)


def _created(tool: Tool, doing: Doing, doings: Sequence[Doing]) -> frozenset[str]:
    """The words for what the tool creates, none where it creates nothing to be kept."""
    if doing.verb not in _CREATORS or not doing.head:
        return frozenset()
    if doing.verb in {"add", "save"} and _ONTO & set(split_name(tool.name.rsplit(".", 1)[-1])):
        return frozenset()  # a song into a playlist changes the playlist
    made = frozenset({stem(yields(doing) or doing.head)})
    if doing.verb == "set" and not any(DELETE in other.kinds and made & set(other.resource) for other in doings):
        return frozenset()  # the volume is set; an alarm is set, and deleted
    return _BOOKED if made & _BOOKED else made


def _manages(other: Doing, kind: str, made: frozenset[str], creating: Doing) -> bool:
    if kind not in other.kinds or other.verb == "set":
        return False
    things = made if kind == READ else made | {stem(creating.head)}  # who shows rooms need not show bookings
    return bool(things & set(other.resource)) or (kind != READ and other.verb == "rebook" and bool(made & _BOOKED))


def _alternatives(missing: Sequence[str]) -> str:
    return " or ".join(missing)
