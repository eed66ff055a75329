"""The table of how families of samples are made: stages and planners, joined of the families' rows."""

from generators.conversations.making import MAKING as CONVERSATIONS
from generators.dialogues.making import MAKING as DIALOGUES
from generators.external.making import MAKING as EXTERNAL
from generators.kinds import kind_named
from generators.multi_step.making import MAKING as MULTI_STEP
from generators.parallel.making import MAKING as PARALLEL
from generators.planning import Making, Obstacle
from generators.routing.making import MAKING as ROUTING
from generators.shifts.making import MAKING as SHIFTS
from generators.single_turn.making import MAKING as SINGLE_TURN
from warehouse.records import Transform

MAKINGS: tuple[Making, ...] = (SINGLE_TURN, DIALOGUES, SHIFTS, EXTERNAL, MULTI_STEP, ROUTING, CONVERSATIONS, PARALLEL)
OBSTACLES: dict[Transform, Obstacle] = {
    transform: obstacle for making in MAKINGS for transform, obstacle in making.obstacles.items()
}
_BY_GROUP = {stage.group: making for making in MAKINGS for stage in making.stages}


def making_of(kind: str) -> Making:
    """How samples of a kind are made. Raises ConfigurationError where there is no such kind."""
    return _BY_GROUP[kind_named(kind).group]
