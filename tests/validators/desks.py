"""A desk for one test."""

from random import Random

from generators.desk import Desk
from tests.scripted_model import ScriptedModel
from warehouse.records import Tool


def desk_of(tools: dict[str, Tool], chat: ScriptedModel | None = None) -> Desk:
    return Desk(chat=chat or ScriptedModel({}), rng=Random(1), tools=tools)
