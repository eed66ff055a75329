"""What the tools of a recipe allow, before anything is built: by kind and by tool, and why not,
as planning has it.
"""

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from callwright.flows.catalogs import aside, gather_tools, import_catalog, problems_in
from callwright.flows.environments import (
    environment_tools,
    explore_environments,
    listed_instead,
    open_environments,
)
from callwright.flows.loops import run_loop
from callwright.flows.planning.demands import Demand, order_of, refusal, shares, told_of_brought
from callwright.flows.progress import told_of_own_reader
from callwright.flows.recipe import GeneratedTools, Recipe, RecipeProblem
from callwright.flows.recipe.own_sentences import check_sentences, told_of_sentences
from callwright.flows.recipe.problems import dotted, read_yaml
from callwright.flows.recipe.schema import DataPath
from callwright.flows.run.work import roles_of
from callwright.flows.settings import Settings, open_warehouse
from callwright.generators.catalogs import Problem
from callwright.generators.environments.protocol import Environment, SimulatedSettings
from callwright.generators.families import Kind, LeftOut, Obstacle, told_of, tools_for, usable_tools
from callwright.generators.kinds import family_of, kind_named, obstacle_to, waves_of
from callwright.generators.policies.surveying import PolicyProblem, survey_policies
from callwright.language.schemas import json_type
from callwright.warehouse.counts import count_of
from callwright.warehouse.errors import ConfigurationError, ReplyError
from callwright.warehouse.records import Language, Sample, Tool

_PLACES = (
    4  # to search a category for paths takes seconds: the largest ones tell, the build looks at all
)
_MANY = 4  # of fewer tools nothing is typical


class KindRow(NamedTuple):
    """What the tools allow of a kind: samples can be about so many of so many `tools`; `reason` is
    why not about the others.

    Where it is not `is_known`, what is possible depends on other samples, and the counts are upper
    bounds.
    """

    kind: str
    asked: int
    possible: int
    usable: int
    tools: int
    reason: str
    is_known: bool = True


class Survey(NamedTuple):
    """What is asked for, of which tools, and what of it can't be planned; `problems` are what was
    odd in their files.

    Of `servers` no tool was called; `unheard` says why some servers could not be asked: nothing is
    asked for then. `policies` is what is wrong with the recipe's policies, or odd, `sentences` what
    is wrong with those that it brings for its tools. `plainly` says how many tools have none.
    """

    asked: Mapping[str, int]
    tools: tuple[Tool, ...]
    left_out: tuple[LeftOut, ...]
    problems: tuple[Problem, ...] = ()
    servers: tuple[str, ...] = ()
    unheard: tuple[str, ...] = ()
    policies: tuple[PolicyProblem, ...] = ()
    sentences: tuple[RecipeProblem, ...] = ()
    plainly: tuple[str, ...] = ()

    @property
    def of_servers(self) -> str:
        """What a build finds out of live servers and a list does not tell, "" where there are
        none.
        """
        named = ", ".join(self.servers)
        return (
            named
            and f"No tool of {named} was called. Which paths its answers allow is known after a build"  # noqa: E501
        )

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
            is_known = missing == asked or is_known_before(kind_named(kind).sources)
            yield KindRow(kind, asked, asked - missing, usable, len(known), why, is_known)


async def survey_recipe(recipe: Recipe, settings: Settings) -> Survey:
    """What a recipe's tools allow, looked at in a work folder that is thrown away.

    Live servers are asked for their lists, and no tool of them is called. Tools that are made for
    the build are not made, and a server may be away: of a recipe with such a source nothing is said
    but what its other tools are.
    """
    known = [one for one in recipe.tools if not isinstance(one, GeneratedTools)]
    with aside(recipe, settings) as elsewhere:
        warehouse = open_warehouse(elsewhere)
        listed = await listed_instead(
            recipe.model_copy(update={"tools": tuple(known)}), settings, elsewhere
        )
        looked = listed.recipe
        await explore_environments(looked, elsewhere)
        toolbox = gather_tools(looked, warehouse, {}, environment_tools(looked, elsewhere))
        if len(looked.tools) < len(recipe.tools):
            said = check_sentences(recipe.sentence_files, toolbox.tools, is_all=False)
            return Survey(
                {}, toolbox.tools, (), toolbox.problems, unheard=listed.unheard, sentences=said
            )
        problems = [*listed.problems, *toolbox.problems]
        for one in looked.tools:  # what was odd in the documents of simulated environments
            if isinstance(one, SimulatedSettings) and one.path is not None:
                problems += problems_in(
                    warehouse, import_catalog(warehouse, one.format, one.path).key
                )
        with open_environments(looked, elsewhere.ledger.parent) as environments:
            left_out = await survey(looked, toolbox.tools, environments)
            policies = tuple(survey_policies(recipe.policies, environments.values()))
    said = check_sentences(recipe.sentence_files, toolbox.tools)
    plainly = () if said else tuple(told_of_sentences(recipe, toolbox.tools))
    return Survey(
        recipe.samples,
        toolbox.tools,
        left_out,
        tuple(problems),
        listed.servers,
        policies=policies,
        sentences=said,
        plainly=plainly,
    )


def recipe_remarks(path: Path, recipe: Recipe, settings: Settings) -> list[RecipeProblem]:
    """What the tools of the recipe in a file do not allow of what it asks for; what they can't
    be had for is a mistake.
    """
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
    remarks += [remark(("samples",), one.rstrip(".")) for one in told_of_brought(recipe)]
    remarks += [
        remark(("models",), one.rstrip(".")) for one in told_of_own_reader(roles_of(recipe))
    ]
    remarks += [*found.sentences, *(remark(("tools",), one.rstrip(".")) for one in found.plainly)]
    remarks += [
        remark(("policies", one.at), one.message, is_remark=one.is_remark) for one in found.policies
    ]
    for row in found.rows():
        if row.possible < row.asked:
            stated = (
                f"{row.asked - row.possible} of {row.asked} can't be planned: {row.reason}".rstrip(
                    "."
                )
            )
            remarks.append(remark(("samples", row.kind), stated))
    if found.impossible:
        asked = count_of(sum(found.asked.values()), "sample")
        stated = f"{found.impossible} of {asked} can't be planned with these tools"
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
            f"{self.tools} of {count_of(tools, 'tool')} require {self.parameter}. If its value is"
            f" always the same, fix it under tools: constants: {{{self.parameter}: …}}"
        )


def constants_to_fix(tools: Sequence[Tool]) -> list[Constant]:
    """The parameters that a recipe should fix, the most frequent first: nobody says them with
    each request.
    """
    required, plumbing = Counter[str](), set[str]()
    for tool in tools:
        plumbing |= {*tool.plumbing}
        texts = (
            name for name in tool.required if json_type(tool.properties.get(name, {})) == "string"
        )
        required.update(texts)
    many = max(_MANY, len(tools) / 2)
    return [
        Constant(name, count)
        for name, count in required.most_common()
        if name in plumbing or count > many
    ]


async def survey(
    recipe: Recipe, tools: Sequence[Tool], environments: Mapping[str, Environment]
) -> tuple[LeftOut, ...]:
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
    gone = {one.name for one in _impossible(found, recipe)}
    for wave in waves_of(recipe.samples):
        for kind in wave:
            if kind.sources:
                found += _derived(kind, recipe, tools, gone)
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
        reason = (
            heard[-1].reason if heard else "No environment of the recipe answers for these tools."
        )
    except Exception as error:  # noqa: BLE001 - what goes wrong costs one kind
        reason = told_of(error)
    return LeftOut(demand.kind.name, reason, demand.language, demand.place, samples=demand.asked)


def _impossible(found: Iterable[LeftOut], recipe: Recipe) -> Iterator[Kind]:
    """The kinds of which nothing can be planned."""
    missing = Counter[str]()
    for one in found:
        missing[one.kind] += one.samples
    yield from (
        kind_named(name)
        for name, count in recipe.samples.items()
        if count and missing[name] >= count
    )


def _derived(
    kind: Kind, recipe: Recipe, tools: Sequence[Tool], gone: set[str]
) -> Iterator[LeftOut]:
    """The tools of whose samples none of a kind can be made, by its own obstacles; and the kind,
    where that are all.

    Nothing is claimed where samples of a source show only in a build what can be made of them.
    """
    assert kind.transform is not None  # noqa: S101 - what has sources is made by a transform
    asked = recipe.samples[kind.name]
    sources = [name for name in kind.sources if recipe.samples.get(name)]
    if gone.issuperset(sources):
        reason = (
            f"It is made from {' or '.join(kind.sources)} samples, and none of these can be"
            " planned."
        )
        yield LeftOut(kind.name, reason, samples=asked)
        return
    if not is_known_before(sources):
        return
    obstacle, by_key = obstacle_to(kind.transform), {tool.key: tool for tool in tools}
    for language in recipe.languages:
        mine = tools_for(tools, language)
        reasons = {
            tool.key: _obstacle_of_tool(tool, sources, obstacle, recipe, language) for tool in mine
        }
        left = [(by_key[key].name, reason) for key, reason in reasons.items() if reason]
        yield from (LeftOut(kind.name, reason, language, tool=name) for name, reason in left)
        if left and len(left) == len(reasons):
            reason = Counter(reason for _, reason in left).most_common(1)[0][0]
            yield LeftOut(kind.name, reason, language, samples=asked // len(recipe.languages))


def is_known_before(sources: Iterable[str]) -> bool:
    """Whether the tools alone decide what can be made of samples of these kinds, so that it is
    known before a build.
    """
    return all(name in family_of(name).plainest for name in sources)


def _obstacle_of_tool(
    tool: Tool, sources: Sequence[str], obstacle: Obstacle, recipe: Recipe, language: Language
) -> str:
    """Why nothing can be made of the plainest samples about a tool, "" where something can be
    made of one of them.
    """
    reason = f"There are no {' or '.join(sources)} samples about this tool."
    for name in sources:
        order = order_of(recipe, Demand(kind_named(name), language, 1), [tool])
        with suppress(ReplyError):  # planning the source itself says why
            if sample := family_of(name).plainest[name](order, tool):
                reason = _reason(obstacle, sample, {tool.key: tool})
                if not reason:
                    return ""
    return reason


def _reason(obstacle: Obstacle, sample: Sample, tools: Mapping[str, Tool]) -> str:
    try:
        return obstacle(sample, tools)
    except Exception as error:  # noqa: BLE001 - a bug costs one tool
        return told_of(error)
