"""What the calls of a task make of its world: each that writes, and each argument of it, has to
count.
"""

from pathlib import Path

import pytest

from callwright.generators.environments.episodes import StatefulWorld, world_of
from callwright.generators.multi_step.tasks import find_changes
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import Call, Exchange
from tests.support.generators.depot import open_depot, parcels


@pytest.fixture
def depot(tmp_path: Path) -> StatefulWorld:
    return world_of(open_depot(tmp_path))


def made(world: StatefulWorld, *calls: Call) -> list[Exchange]:
    """A step for each call, answered one after the other."""
    episode = world.begin()
    return [Exchange(calls=(call,), responses=(episode.answer(call).response,)) for call in calls]


def test_a_change_is_what_the_call_says(depot: StatefulWorld) -> None:
    parcel = next(one for one in parcels(depot) if one["service"] != "express")
    call = Call(tool="update_parcel", arguments={"parcel_id": parcel["id"], "service": "express"})
    [change] = find_changes(made(depot, call), (), depot)
    assert (change.field, change.after) == ("service", "express")


def test_an_argument_that_says_what_is_so_already_makes_no_task(depot: StatefulWorld) -> None:
    parcel = next(one for one in parcels(depot) if one["service"] != "express")
    told = {"parcel_id": parcel["id"], "service": "express", "status": parcel["status"]}
    with pytest.raises(RecordError, match="ends the same without its status"):
        find_changes(made(depot, Call(tool="update_parcel", arguments=told)), (), depot)
