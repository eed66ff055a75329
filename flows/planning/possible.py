"""What the tools of a recipe allow, before anything is built: by kind and by tool, and why not, as planning has it."""

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from random import Random
from typing import NamedTuple

from pydantic import JsonValue

from callwright.flows.catalogs import aside, gather_tools, import_catalog, problems_in
from callwright.flows.environments import (
    environment_tools,
    explore_environments,
    listed_instead,
    open_environments,
)
from callwright.flows.loops import run_loop
from callwright.flows.planning.demands import Demand, order_of, refusal, shares
from callwright.flows.recipe import GeneratedTools, Recipe, RecipeProblem
from callwright.flows.recipe.problems import dotted, read_yaml
from callwright.flows.recipe.schema import DataPath
from callwright.flows.settings import Settings, open_warehouse
from callwright.generators.catalogs import Problem
from callwright.generators.environments.protocol import Environment, SimulatedSettings
from callwright.generators.families import Kind, LeftOut, Obstacle, told_of, tools_for, usable_tools
from callwright.generators.kinds import family_of, kind_named, obstacle_to, waves_of
from callwright.generators.own_values import NO_VALUES
from callwright.generators.policies.surveying import PolicyProblem, survey_policies
from callwright.language.schemas import json_type
from callwright.warehouse.errors import ConfigurationError, ReplyError
from callwright.warehouse.records import (
    Arguments,
    CallTurn,
    GoldCall,
    Language,
    ReplyTurn,
    Sample,
    Tool,
    Turn,
    UserTurn,
)

_PLACES = 4  # to search a category for paths takes seconds: the largest ones tell, the build looks at all
_MANY = 4  # of fewer tools nothing is typical


class KindRow(NamedTuple):
    """What the tools allow of a kind: samples can be about so many of so many `tools`; `reason` is why not about the others."""

    kind: str
    asked: int
    possible: int
    usable: int
    tools: int
    reason: str


class Survey(NamedTuple):
    """What is asked for, of which tools, and what of it can't be planned; `problems` are what was odd in their files.

    Of `servers` no tool was called; `unheard` says why some servers could not be asked: nothing is asked for then. `policies` is
    what is wrong with the recipe's policies, or odd.
    """

    asked: Mapping[str, int]
    tools: tuple[Tool, ...]
    left_out: tuple[LeftOut, ...]
    problems: tuple[Problem, ...] = ()
    servers: tuple[str, ...] = ()
    unheard: tuple[str, ...] = ()
    policies: tuple[PolicyProblem, ...] = ()

    @property
    def of_servers(self) -> str:
        """What a build finds out of live servers and a list does not tell, "" where there are none."""
        named = ", ".join(self.servers)
        return named and f"No tool of {named} was called: which paths its answers allow is found out by a build"

    @property
    def impossible(self) -> int:
        """How many of the samples asked for can't be planned."""
        return sum(one.samples for one in self.left_out)

    def rows(self) -> Iterator[KindRow]:
        """The kinds, in the order in which they are asked for."""
        known = {tool.name for tool in self.tools}
        for kind, asked in self.asked.items():
            mine = [one for one in self.left_out if one.kind == kind]
            gone = {one.tool for one in mine if one.tool}
            reasons = Counter[str]()
            for one in mine:
                reasons[one.reason] += 1_000_000 * bool(one.samples) + 1
            missing = sum(one.samples for one in mine)
            usable = 0 if missing == asked else len(known - gone)
            why = next((reason for reason, _ in reasons.most_common(1)), "")
            yield KindRow(kind, asked, asked - missing, usable, len(known), why)


async def survey_recipe(recipe: Recipe, settings: Settings) -> Survey:
    """What a recipe's tools allow, looked at in a work folder that is thrown away.

    Live servers are asked for their lists, and no tool of them is called. Tools that are made for the build are not made, and a
    server may be away: of a recipe with such a source nothing is said but what its other tools are.
    """
    known = [one for one in recipe.tools if not isinstance(one, GeneratedTools)]
    with aside(recipe, settings) as elsewhere:
        warehouse = open_warehouse(elsewhere)
        listed = await listed_instead(recipe.model_copy(update={"tools": tuple(known)}), settings, elsewhere)
        looked = listed.recipe
        await explore_environments(looked, elsewhere)
        toolbox = gather_tools(looked, warehouse, {}, environment_tools(looked, elsewhere))
        if len(looked.tools) < len(recipe.tools):
            return Survey({}, toolbox.tools, (), toolbox.problems, unheard=listed.unheard)
        problems = [*listed.problems, *toolbox.problems]
        for one in looked.tools:  # what was odd in the documents of simulated environments
            if isinstance(one, SimulatedSettings) and one.path is not None:
                problems += problems_in(warehouse, import_catalog(warehouse, one.format, one.path).key)
        with open_environments(looked, elsewhere.ledger.parent) as environments:
            left_out = await survey(looked, toolbox.tools, environments)
            policies = tuple(survey_policies(recipe.policies, environments.values()))
    return Survey(recipe.samples, toolbox.tools, left_out, tuple(problems), listed.servers, policies=policies)


def recipe_remarks(path: Path, recipe: Recipe, settings: Settings) -> list[RecipeProblem]:
    """What the tools of the recipe in a file do not allow of what it asks for; what they can't be had for is a mistake."""
    source = read_yaml(path.read_text(encoding="utf-8"))

    def remark(at: DataPath, stated: str, *, is_remark: bool = True) -> RecipeProblem:
        place = source.place_of(at, key=at[0] != "policies")
        return RecipeProblem(str(path), *place, dotted(at), stated, is_remark=is_remark)

    try:
        found = run_loop(survey_recipe(recipe, settings))
    except ConfigurationError as error:
        return [remark(("tools",), str(error).rstrip("."), is_remark=False)]
    said = [*found.unheard, *([found.of_servers] if found.of_servers else [])]
    remarks = [remark(("tools",), one.rstrip(".")) for one in said]
    remarks += [remark(("policies", one.at), one.message, is_remark=one.is_remark) for one in found.policies]
    for row in found.rows():
        if row.possible < row.asked:
            stated = f"{row.asked - row.possible} of {row.asked} can't be planned: {row.reason}".rstrip(".")
            remarks.append(remark(("samples", row.kind), stated))
    if found.impossible:
        stated = f"of {sum(found.asked.values())} samples asked for {found.impossible} can't be planned by these tools"
        remarks.append(remark(("samples",), stated))
    constants = constants_to_fix(found.tools)
    return remarks + [remark(("tools",), one.sentence(len(found.tools))) for one in constants]


class Constant(NamedTuple):
    """A required text that most tools take, or that no plan chooses: so many `tools` require it."""

    parameter: str
    tools: int

    def sentence(self, tools: int) -> str:
        """What to do with it, of so many tools."""
        return (
            f"{self.tools} of {tools} tools require {self.parameter}; where it is the same for all, fix it at the tools:"
            f" constants: {{{self.parameter}: …}}"
        )


def constants_to_fix(tools: Sequence[Tool]) -> list[Constant]:
    """The parameters that a recipe should fix, the most frequent first: nobody says them with each request."""
    required, plumbing = Counter[str](), set[str]()
    for tool in tools:
        plumbing |= {*tool.plumbing}
        texts = (name for name in tool.required if json_type(tool.properties.get(name, {})) == "string")
        required.update(texts)
    many = max(_MANY, len(tools) / 2)
    return [Constant(name, count) for name, count in required.most_common() if name in plumbing or count > many]


async def survey(recipe: Recipe, tools: Sequence[Tool], environments: Mapping[str, Environment]) -> tuple[LeftOut, ...]:
    """What can't be planned of a recipe: whole kinds at a place, and tools for a kind."""
    found: list[LeftOut] = []
    demands = [*shares(recipe, tools, found.append)]
    sizes = Counter(tool.category for tool in tools)
    paths = Counter[Kind]()
    for demand in sorted(demands, key=lambda one: -sizes[one.place]):
        if demand.asked and not demand.kind.sources:
            paths[demand.kind] += demand.kind.traits.asked == "path"
            if paths[demand.kind] > _PLACES:
                continue
            family = family_of(demand.kind.name)
            order = order_of(recipe, demand, tools)._replace(leave_out=found.append)
            usable_tools(order, tools_for(tools, demand.language), family.tool_obstacle)
            refused = await _refusal(recipe, demand, tools, environments)
            found += [refused] if refused else []
    bare = {language: [*_bare_samples(tools_for(tools, language), language)] for language in recipe.languages}
    gone = {one.name for one in _impossible(found, recipe)}
    for wave in waves_of(recipe.samples):
        for kind in wave:
            if kind.sources:
                found += _derived(kind, recipe.samples[kind.name], bare, tools, gone)
                gone |= {one.name for one in _impossible(found, recipe)}
    # A tool is left out of a kind once, wherever that kind is planned.
    return tuple(dict.fromkeys(one._replace(place="") if one.tool else one for one in found))


async def _refusal(
    recipe: Recipe, demand: Demand, tools: Sequence[Tool], environments: Mapping[str, Environment]
) -> LeftOut | None:
    """Why a demand can't be planned at all, None where it can."""
    family, heard = family_of(demand.kind.name), list[LeftOut]()
    order = order_of(recipe, demand._replace(asked=1), tools)
    asked = order._replace(environments=environments, leave_out=heard.append)
    planned = family.plan(asked) if family.plan else None
    if not isinstance(planned, AsyncIterator):
        return refusal(recipe, demand, tools)
    try:
        async for _ in planned:
            return None
        reason = heard[-1].reason if heard else "No environment of the recipe answers for these tools."
    except Exception as error:  # noqa: BLE001 - what goes wrong costs one kind
        reason = told_of(error)
    return LeftOut(demand.kind.name, reason, demand.language, demand.place, samples=demand.asked)


def _impossible(found: Iterable[LeftOut], recipe: Recipe) -> Iterator[Kind]:
    """The kinds of which nothing can be planned."""
    missing = Counter[str]()
    for one in found:
        missing[one.kind] += one.samples
    yield from (kind_named(name) for name, count in recipe.samples.items() if count and missing[name] >= count)


def _derived(
    kind: Kind, asked: int, bare: Mapping[Language, Sequence[Sample]], tools: Sequence[Tool], gone: set[str]
) -> Iterator[LeftOut]:
    """The tools of whose samples none of a kind can be made, by its own obstacles; and the kind, where that are all."""
    assert kind.transform is not None  # noqa: S101 - what has sources is made by a transform
    if kind.traits.is_task:
        return  # what is made of paths depends on what the world answers
    if gone.issuperset(kind.sources):
        yield LeftOut(
            kind.name, f"Nothing of the kinds it is made of can be planned: {', '.join(kind.sources)}.", samples=asked
        )
        return
    obstacle, by_key = obstacle_to(kind.transform), {tool.key: tool for tool in tools}
    for language, samples in bare.items():
        reasons: dict[str, str] = {}
        for sample in samples:
            if sample.kind in kind.sources and reasons.get(sample.candidates[0]) != "":
                reasons[sample.candidates[0]] = _reason(obstacle, sample, by_key)
        for tool in tools_for(tools, language):
            reasons.setdefault(tool.key, f"No sample of the kinds {', '.join(kind.sources)} can be about it.")
        left = [(by_key[key].name, reason) for key, reason in reasons.items() if reason]
        yield from (LeftOut(kind.name, reason, language, tool=name) for name, reason in left)
        if left and len(left) == len(reasons):
            reason = Counter(reason for _, reason in left).most_common(1)[0][0]
            yield LeftOut(kind.name, reason, language, samples=asked // len(bare))


def _reason(obstacle: Obstacle, sample: Sample, tools: Mapping[str, Tool]) -> str:
    try:
        return obstacle(sample, tools)
    except Exception as error:  # noqa: BLE001 - a bug costs one tool
        return told_of(error)


def _bare_samples(tools: Iterable[Tool], language: Language) -> Iterator[Sample]:
    """Of each tool a request with all that is required, one with nothing, and a dialogue: as plain as can be.

    What is made of samples can be made of these where it can be made of worded ones, as far as the tool decides.
    """
    for tool in tools:
        with suppress(ReplyError):  # its planned kinds tell why
            values = NO_VALUES.fill(tool, tool.required, language, Random(tool.key))
            said = ", ".join(f"{name}: {_said(value)}" for name, value in values.items())
            asked: dict[str, list[Turn]] = {"perfect": [UserTurn(text=f"{said}."), _due(tool, values)]}
            if values:
                nothing: list[Turn] = [UserTurn(text="?"), _due(tool, {})]
                asked |= {"imperfect": nothing, "sQsA": [*nothing]}
                for count, (name, value) in enumerate(values.items(), 1):
                    known = dict(islice(values.items(), count))
                    asked["sQsA"] += [ReplyTurn(text=f"{name}?"), UserTurn(text=_said(value)), _due(tool, known)]
            for kind, turns in asked.items():
                yield Sample(
                    kind=kind, language=language, category=tool.category, candidates=(tool.key,), turns=tuple(turns)
                )


def _due(tool: Tool, values: Arguments) -> CallTurn:
    return CallTurn(calls=(GoldCall(tool=tool.name, arguments=values),))


def _said(value: JsonValue) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(_said, value)) if isinstance(value, list) else str(value)
