"""What a recipe's tools allow before a build: by kind and by tool, and why not, as planned."""

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from callwright.flows.catalogs import aside, gather_tools, import_catalog, problems_in
from callwright.flows.environments import (
    environment_tools,
    explore_environments,
    listed_instead,
    open_environments,
)
from callwright.flows.planning.demands import Demand, order_of, refusal, shares, told_of_brought
from callwright.flows.progress import told_of_own_reader
from callwright.flows.recipe import GeneratedTools, Recipe, RecipeProblem
from callwright.flows.recipe.own_sentences import check_sentences, told_of_sentences
from callwright.flows.recipe.problems import LocatedYaml, dotted, read_yaml
from callwright.flows.recipe.reading import CheckedRecipe
from callwright.flows.run.work import roles_of
from callwright.flows.settings import Settings, open_warehouse
from callwright.generators.catalogs import Problem
from callwright.generators.environments.protocol import Environment, SimulatedSettings
from callwright.generators.families import Kind, LeftOut, Order, told_of, tools_for, usable_tools
from callwright.generators.kinds import family_of, kind_named, waves_of
from callwright.generators.own_values import OwnValues, missing_values, told_of_missing
from callwright.generators.policies.surveying import PolicyProblem, survey_policies
from callwright.language.schemas import json_type
from callwright.warehouse.counts import count_of
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import Tool

# to search a category for paths takes seconds: the largest ones tell, the build looks at all
_PLACES = 4
_MANY = 4  # of fewer tools nothing is typical


class KindRow(NamedTuple):
    """What the tools allow of a kind: `usable` of `tools` can be used; `reason` is why not more.

    If it is not `is_known`, what is possible depends on other samples, and the counts are upper
    bounds: no more than of the kinds that it is made from.
    """

    kind: str
    asked: int
    possible: int
    usable: int
    tools: int
    reason: str
    is_known: bool = True


class Survey(NamedTuple):
    """What is asked for, of which tools, and what cannot be planned.

    `problems` are oddities in the tools' files. No tool of `servers` was called; `unheard` says
    why some servers could not be asked: nothing is asked for then. `policies` lists problems of
    the recipe's policies, `sentences` those of the sentences that it brings for its tools.
    `plainly` says how many tools have none.
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
        """What only a build finds out from live servers, "" if there are none."""
        named = ", ".join(self.servers)
        return (
            named
            and f"No tool of {named} was called. Which paths its answers allow is known after a build"  # noqa: E501
        )

    @property
    def impossible(self) -> int:
        """How many of the requested samples can't be planned."""
        return sum(one.samples for one in self.left_out)

    def rows(self) -> Iterator[KindRow]:
        """Yield a row for each kind, in the order of the recipe."""
        rows: dict[str, KindRow] = {}
        for wave in waves_of(self.asked):
            for kind in wave:
                rows[kind.name] = self._row(kind, rows)
        yield from (rows[name] for name in self.asked)

    def _of(self, kind: str) -> Iterator[LeftOut]:
        return (one for one in self.left_out if one.kind == kind)

    def _row(self, kind: Kind, before: Mapping[str, KindRow]) -> KindRow:
        """Return the row of a kind; `before` has those of the kinds that it is made from."""
        asked_count, mine = self.asked[kind.name], [*self._of(kind.name)]
        gone = {one.tool for one in mine if one.tool}
        # the samples of a kind may be shared out over the tools' categories
        closed = {one.place for one in mine if one.samples and one.place and not one.tool}
        reasons = Counter[str]()
        for left_part in mine:
            reasons[left_part.reason] += 1_000_000 * bool(left_part.samples) + 1
        missing = sum(one.samples for one in mine)
        left = [tool for tool in self.tools if tool.category not in closed]
        usable = 0 if missing == asked_count else len({tool.name for tool in left} - gone)
        is_known = missing == asked_count or is_known_before(kind)
        sources = [before[name] for name in kind.sources if name in before]
        if sources and not is_known:
            usable = min(usable, max(one.usable for one in sources))
        why = next((reason for reason, _ in reasons.most_common(1)), "")
        total = len({tool.name for tool in self.tools})
        possible = asked_count - missing
        return KindRow(kind.name, asked_count, possible, usable, total, why, is_known)


async def survey_recipe(recipe: Recipe, settings: Settings) -> Survey:
    """Survey what a recipe's tools allow, in a temporary work folder.

    Live servers are asked for their lists, and no tool of them is called. Tools that are
    generated for the build are not made, and a server may be away: for a recipe with such a
    source, only its other tools are reported.
    """
    listed_sources = [one for one in recipe.tools if not isinstance(one, GeneratedTools)]
    with aside(recipe, settings) as elsewhere:
        warehouse = open_warehouse(elsewhere)
        listed = await listed_instead(
            recipe.model_copy(update={"tools": tuple(listed_sources)}), settings, elsewhere
        )
        looked = listed.recipe
        await explore_environments(looked, elsewhere)
        toolbox = gather_tools(looked, warehouse, {}, environment_tools(looked, elsewhere))
        if len(looked.tools) < len(recipe.tools):
            sentence_problems = check_sentences(recipe.sentence_files, toolbox.tools, is_all=False)
            return Survey(
                {},
                toolbox.tools,
                (),
                toolbox.problems,
                unheard=listed.unheard,
                sentences=sentence_problems,
            )
        problems = [*listed.problems, *toolbox.problems]
        for tool_source in looked.tools:  # what was odd in the documents of simulated environments
            if isinstance(tool_source, SimulatedSettings) and tool_source.path is not None:
                problems += problems_in(
                    warehouse, import_catalog(warehouse, tool_source.format, tool_source.path).key
                )
        with open_environments(looked, elsewhere.ledger.parent) as environments:
            left_out = await survey(looked, toolbox.tools, environments)
            policies = tuple(survey_policies(recipe.policies, environments.values()))
    sentence_problems = check_sentences(recipe.sentence_files, toolbox.tools)
    plainly = () if sentence_problems else tuple(told_of_sentences(recipe, toolbox.tools))
    return Survey(
        recipe.samples,
        toolbox.tools,
        left_out,
        tuple(problems),
        listed.servers,
        policies=policies,
        sentences=sentence_problems,
        plainly=plainly,
    )


async def problems_of_recipe(
    path: Path, checked: CheckedRecipe, settings: Settings
) -> list[RecipeProblem]:
    """Return the mistakes of a file's recipe; of a valid one, what its tools do not allow."""
    if checked.recipe is None:
        return [*checked.problems]
    return await recipe_remarks(path, checked.recipe, settings)


async def recipe_remarks(path: Path, recipe: Recipe, settings: Settings) -> list[RecipeProblem]:
    """Return what a file's recipe asks for that its tools do not allow.

    It is a mistake, not a remark, if the tools cannot be had.
    """
    source = _located(path)

    def remark(stated: str, *at: str | int, is_remark: bool = True) -> RecipeProblem:
        place = source.place_of(at, key=at[0] != "policies")
        said = stated if at[0] == "policies" else stated.rstrip(".")
        return RecipeProblem(str(path), *place, dotted(at), said, is_remark=is_remark)

    try:
        recipe_survey = await survey_recipe(recipe, settings)
    except ConfigurationError as error:
        return [remark(str(error), "tools", is_remark=False)]
    remarks = [
        remark(one, "tools") for one in (*recipe_survey.unheard, recipe_survey.of_servers) if one
    ]
    remarks += [remark(one, "samples") for one in told_of_brought(recipe)]
    remarks += [remark(one, "models") for one in told_of_own_reader(roles_of(recipe))]
    remarks += [*recipe_survey.sentences, *(remark(one, "tools") for one in recipe_survey.plainly)]
    remarks += [
        remark(one.message, "policies", one.at, is_remark=one.is_remark)
        for one in recipe_survey.policies
    ]
    for row in recipe_survey.rows():
        if row.possible < row.asked:
            counts = f"{row.asked - row.possible} of {row.asked} can't be planned"
            remarks.append(remark(f"{counts}: {row.reason}", "samples", row.kind))
    if recipe_survey.impossible:
        asked = count_of(sum(recipe_survey.asked.values()), "sample")
        counts = f"{recipe_survey.impossible} of {asked} can't be planned with these tools"
        remarks.append(remark(counts, "samples"))
    missing = missing_values(recipe_survey.tools, OwnValues(recipe.own_values))
    remarks += [remark(one, "tools") for one in told_of_missing(missing)]
    constants = constants_to_fix(recipe_survey.tools)
    return remarks + [remark(one.sentence(len(recipe_survey.tools)), "tools") for one in constants]


def _located(path: Path) -> LocatedYaml:
    return read_yaml(path.read_text(encoding="utf-8"))


class Constant(NamedTuple):
    """A required text that most tools take, or that no plan chooses; `tools` of them require it."""

    parameter: str
    tools: int

    def sentence(self, tools: int) -> str:
        """Return a sentence on what to do with it, for a total of `tools`."""
        return (
            f"{self.tools} of {count_of(tools, 'tool')} require {self.parameter}. If its value is"
            f" always the same, fix it under tools: constants: {{{self.parameter}: …}}"
        )


def constants_to_fix(tools: Sequence[Tool]) -> list[Constant]:
    """Return the parameters that a recipe should fix, most frequent first.

    Nobody says these with each request.
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
    """Return what can't be planned of a recipe: whole kinds at a place, and tools for a kind."""
    left_parts: list[LeftOut] = []
    demands = [*shares(recipe, tools, left_parts.append)]
    sizes = Counter(tool.category for tool in tools)
    paths = Counter[Kind]()
    for demand in sorted(demands, key=lambda one: -sizes[one.place]):
        if demand.asked and not demand.kind.sources:
            paths[demand.kind] += demand.kind.traits.asked == "path"
            if paths[demand.kind] > _PLACES:
                continue
            family = family_of(demand.kind.name)
            order = order_of(recipe, demand, tools)._replace(leave_out=left_parts.append)
            if family.tool_obstacle:
                usable_tools(order, tools_for(tools, demand.language), family.tool_obstacle)
            refused = await _refusal(recipe, demand, tools, environments)
            left_parts += [refused] if refused else []
    gone = {one.name for one in _impossible(left_parts, recipe)}
    for wave in waves_of(recipe.samples):
        for kind in wave:
            if kind.sources and kind.name not in gone:
                left_parts += _derived(kind, recipe, tools, gone, left_parts)
                gone |= {one.name for one in _impossible(left_parts, recipe)}
    # A tool is left out of a kind once, wherever that kind is planned.
    return tuple(dict.fromkeys(one._replace(place="") if one.tool else one for one in left_parts))


async def _refusal(
    recipe: Recipe, demand: Demand, tools: Sequence[Tool], environments: Mapping[str, Environment]
) -> LeftOut | None:
    """Return why a demand can't be planned at all; None if it can."""
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
    """Yield the kinds for which nothing can be planned."""
    missing = Counter[str]()
    for one in found:
        missing[one.kind] += one.samples
    yield from (
        kind_named(name)
        for name, count in recipe.samples.items()
        if count and missing[name] >= count
    )


def _derived(
    kind: Kind, recipe: Recipe, tools: Sequence[Tool], gone: set[str], found: Sequence[LeftOut]
) -> Iterator[LeftOut]:
    """The tools that samples of a derived kind can't be about, and the kind, where that are all.

    Nothing is claimed of a kind of which only a build shows what its sources allow.
    """
    asked_count = recipe.samples[kind.name]
    sources = [name for name in kind.sources if recipe.samples.get(name)]
    obstacle = family_of(kind.name).tool_obstacle
    if gone.issuperset(sources):
        reason = (
            f"It is made from {' or '.join(kind.sources)} samples, and none of these can be"
            " planned."
        )
        yield LeftOut(kind.name, reason, samples=asked_count)
    elif obstacle is not None and is_known_before(kind):
        lacking = {(one.kind, one.language, one.tool) for one in found}

        def against(order: Order, tool: Tool) -> str:
            if all((name, order.language, tool.name) in lacking for name in sources):
                return f"There are no {' or '.join(sources)} samples about this tool."
            return obstacle(order, tool)

        for language in recipe.languages:
            heard: list[LeftOut] = []
            mine = tools_for(tools, language)
            order = order_of(recipe, Demand(kind, language, 1), mine)
            if not usable_tools(order._replace(leave_out=heard.append), mine, against) and mine:
                reason = Counter(one.reason for one in heard).most_common(1)[0][0]
                samples = asked_count // len(recipe.languages)
                heard.append(LeftOut(kind.name, reason, language, samples=samples))
            yield from heard


def is_known_before(kind: Kind) -> bool:
    """Whether the tools alone decide what can be made of a kind, so it is known before a build."""
    return not kind.sources or (
        family_of(kind.name).tool_obstacle is not None
        and all(kind_named(name).is_decided_by_tool for name in kind.sources)
    )
