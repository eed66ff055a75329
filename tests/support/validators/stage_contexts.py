"""A context for one test."""

from random import Random

from generators.stages import StageContext
from tests.support.scripted_model import ScriptedModel
from warehouse.records import Tool


def context_of(tools: dict[str, Tool], chat: ScriptedModel | None = None) -> StageContext:
    return StageContext(chat=chat or ScriptedModel({}), rng=Random(1), tools=tools)
