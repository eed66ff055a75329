"""A context for one test."""

from random import Random

from callwright.generators.stages import StageContext
from callwright.warehouse.records import Tool
from tests.support.scripted_model import ScriptedModel


def context_of(tools: dict[str, Tool], chat: ScriptedModel | None = None) -> StageContext:
    return StageContext(chat=chat or ScriptedModel({}), rng=Random(1), tools=tools)
