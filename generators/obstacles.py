"""Why a sample can't be made into another kind: asked before planning, so that no model is paid for what can't be."""

from collections.abc import Mapping

from generators import slots, trajectories
from generators.derivations import Obstacle
from generators.external import entities
from generators.kinds import Kind
from generators.shifts import intents, values
from warehouse.records import Sample, Tool, Transform

_OBSTACLES: Mapping[Transform, Obstacle] = {
    "sQsA": slots.obstacle,
    "mQmA": trajectories.obstacle,
    "mQsA": trajectories.obstacle,
    "sQmA": trajectories.obstacle,
    "IS": intents.obstacle,
    "SO_case1": values.same_turn_obstacle,
    "SO_case2": values.own_turn_obstacle,
    "mSv": values.after_call_obstacle,
    "external": entities.obstacle,
}


def obstacle_for(kind: Kind) -> Obstacle:
    """The function that says, for a sample and the tools by key, why the kind can't be made of it; "" where it can."""
    return _OBSTACLES[kind.transform] if kind.transform else _no_obstacle


def _no_obstacle(_sample: Sample, _tools: Mapping[str, Tool]) -> str:
    return ""
