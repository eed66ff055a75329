"""Values that the generating model thinks up: what people choose freely, or nothing tells.

A model is asked once for a tool. Its reply is in the ledger, and what is usable of it in the table
`value_pools`; a build takes these values as it takes those of the recipe.
"""

import asyncio
from collections.abc import Iterator, Sequence

import orjson

from callwright.flows.catalogs import gather_tools, with_catalogs
from callwright.flows.environments import environment_tools
from callwright.flows.progress import Progress
from callwright.flows.recipe import Recipe
from callwright.flows.recipe.own_words import OwnValueList
from callwright.flows.run.work import task_group, with_secret
from callwright.flows.settings import Settings, open_warehouse
from callwright.flows.toolmaking import made_tools
from callwright.generators.own_values import OwnValues
from callwright.generators.routing.making import NO_CATALOGS
from callwright.generators.sentences.value_pools import STAGE, think_up_values
from callwright.generators.tools import is_plain
from callwright.language.calls.parameters import in_context, is_free
from callwright.llm.ledger import Ledger
from callwright.llm.limits import Budget
from callwright.llm.models import Readiness, open_chat, reads_language
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import LlmCall, Tool
from callwright.warehouse.rows import Row
from callwright.warehouse.store import Warehouse

_AT_ONCE = 16
_TOOLS_A_SAMPLE = 2  # beyond that most tools would be asked about and never used


async def collect_pools(recipe: Recipe, settings: Settings, progress: Progress) -> None:
    """Ask the generator for values that the recipe's tools need, unless they are there already.

    A reply without usable values leaves the tool without.
    """
    if not reads_language(recipe.models.generator.name):
        return
    warehouse = open_warehouse(settings)
    recipe = with_catalogs(recipe, warehouse)
    toolbox = gather_tools(
        recipe, warehouse, made_tools(recipe, settings), environment_tools(recipe, settings)
    )
    asked = [*_lacking(with_pools(recipe, toolbox.tools, warehouse), toolbox.tools)]
    if not asked:
        return
    model, language = with_secret(recipe.models.generator), recipe.languages[0]
    rows, calls, places = list[Row](), list[LlmCall](), asyncio.Semaphore(_AT_ONCE)
    progress.begin("Thinking up values", len(asked))
    async with Ledger(settings.ledger) as ledger:
        chat = open_chat(
            model,
            ledger=ledger,
            budget=Budget(recipe.budget),
            record=calls.append,
            ready=Readiness([model]).check,
        )

        async def ask(tool: Tool, names: Sequence[str]) -> None:
            async with places:
                try:
                    pools = await think_up_values(tool, names, language, chat.for_stage(STAGE))
                except ReplyError:  # as if it had no usable value: the tool is told as lacking them
                    pools = {}
                for name, values in pools.items():
                    listed = orjson.dumps(values).decode()
                    row = {"tool": tool.key, "parameter": name, "model": model.name}
                    rows.append({**row, "pool": listed})
                progress.advance(1)

        try:
            async with task_group() as group:
                for tool, names in asked:
                    group.create_task(ask(tool, names))
        finally:
            await chat.close()
    with warehouse.together():
        warehouse.put(calls)
        warehouse.put_rows({"value_pools": rows})


def _lacking(recipe: Recipe, tools: Sequence[Tool]) -> Iterator[tuple[Tool, list[str]]]:
    """Yield the tools that need values, with the parameters that a sentence can state.

    What people choose freely counts too, unless there are many more tools than samples: few
    would be used.
    """
    own = OwnValues(recipe.own_values)
    are_few = len(tools) <= _TOOLS_A_SAMPLE * sum(recipe.samples.values())
    for tool in tools:
        schemas = in_context(tool.properties, tool.name, tool.description)
        names = [one for one in tool.choosable if not own.of(tool, one) and is_plain(schemas[one])]
        unknown = own.unknown(tool, names)
        free = [one for one in names if is_free(one, schemas[one])]
        asked = unknown if {*unknown} & {*tool.required} else []
        if are_few and tool.source not in NO_CATALOGS:
            asked = [one for one in names if one in unknown or one in free]
        if asked:
            yield tool, asked


def with_pools(recipe: Recipe, tools: Sequence[Tool], warehouse: Warehouse) -> Recipe:
    """Return the recipe with the values that its generator has thought up for these tools."""
    model = recipe.models.generator.name
    if not reads_language(model):
        return recipe
    by_key = {tool.key: tool for tool in tools}
    query = (
        "select tool, parameter, pool from value_pools where model = ? and"
        " list_contains(?::varchar[], tool)"
    )
    pools = {
        f"{by_key[row['tool']].name}.{row['parameter']}": OwnValueList(
            given=tuple(orjson.loads(row["pool"]))
        )
        for row in warehouse.rows(query, [model, [*by_key]])
    }
    named = {key: one for key, one in pools.items() if key.rpartition(".")[2] not in recipe.values}
    return recipe.model_copy(update={"values": {**named, **recipe.values}}) if named else recipe
