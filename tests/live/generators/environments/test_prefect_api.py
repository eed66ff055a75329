"""A live API whole: a Prefect server's own document, explored, chained by its links, replayed
without the server.
"""

from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from pydantic import JsonValue

from callwright.generators.environments.exploring import explore_environment
from callwright.generators.environments.opening import open_environment
from callwright.generators.environments.picking import argument_with, entries_of, value_at
from callwright.generators.environments.protocol import Environment, HttpSettings
from callwright.generators.environments.response_store import ResponseStore
from callwright.generators.environments.stored import (
    RecordedEnvironment,
    StoredEnvironment,
    recording_of,
)
from callwright.warehouse.records import Call, Link
from tests.support.generators.environments.prefect_world import Api, fill
from tests.support.servers import HeardPrefect

pytestmark = [pytest.mark.prefect, pytest.mark.enable_socket]

FILTERS = (
    "read_flow_runs_flow_runs_filter_post",
    "read_flows_flows_filter_post",
    "read_logs_logs_filter_post",
)
RECIPE = Path(__file__).parents[4] / "recipes" / "prefect_api.yaml"
CHAIN = (
    ("read_flow_by_name_flows_name__name__get", ""),
    ("read_flow_runs_flow_runs_filter_post", "flows.id.any_[]"),
    ("read_flow_run_flow_runs__id__get", "id"),
    ("read_logs_logs_filter_post", "logs.flow_run_id.any_[]"),
)


def settings_at(url: str, folder: Path) -> HttpSettings:
    """The recipe's own settings, for another address and document, with tools that take what
    they filter by deep inside.
    """
    (told,) = yaml.safe_load(RECIPE.read_text(encoding="utf-8"))["tools"]
    path = Api(url).document(folder / "prefect.json")
    return HttpSettings.model_validate(
        {**told, "path": path, "base_url": url, "tools": [*told["tools"], *FILTERS]}
    )


def no_secret(_: str) -> str:
    return ""


def opened(settings: HttpSettings, folder: Path) -> StoredEnvironment:
    environment = open_environment(settings, store=folder / "responses.sqlite", secret=no_secret)
    assert isinstance(environment, StoredEnvironment)
    return environment


async def followed(environment: Environment, link: Link, before: JsonValue) -> JsonValue:
    """The response to the call that takes its value from the first entry of the response before."""
    value = value_at(entries_of(before, link.entries)[0].value, link.field)
    answer = await environment.answer(
        Call(tool=link.tool, arguments=argument_with(link.parameter, value))
    )
    assert answer.problem == ""
    return answer.response


async def test_a_prefect_server_is_explored_chained_and_replayed(
    prefect_server: HeardPrefect, tmp_path: Path
) -> None:
    url = prefect_server.server.api
    fill(url)
    settings = settings_at(url, tmp_path)
    environment = opened(settings, tmp_path)
    await explore_environment(settings, environment)

    usable = {name for link in environment.links for name in (link.tool, link.source)}
    assert len(usable) >= 15
    by_name = "read_flow_by_name_flows_name__name__get"
    names = {call.arguments["name"] for call in environment.known_calls if call.tool == by_name}
    assert {
        "daily-sales",
        "send-invoices",
    } & names  # a server that others use too has more flows than are kept

    # A flow by name, its runs, one of them, its log: each argument out of the response before, by a
    # link that was borne out.
    found = await environment.answer(Call(tool=CHAIN[0][0], arguments={"name": "daily-sales"}))
    response = found.response
    for (source, _), (tool, parameter) in pairwise(CHAIN):
        # A run's own id is no link from the run, for whoever reads a run has it.
        own = Link(tool=tool, parameter=parameter, source=source, entries="", field="id")
        known = [
            one for one in environment.links if one.with_changes(entries="", field="id") == own
        ]
        response = await followed(environment, (known or [own])[0], response)
    assert isinstance(response, list)
    assert {line["message"] for line in response if isinstance(line, dict)} >= {
        "Started.",
        "Read 40 rows.",
    }

    stored = ResponseStore(environment.store.path)
    replay = RecordedEnvironment("prefect", recording_of(stored, "prefect"))
    calls = [call for call in environment.known_calls if call.arguments]
    assert [await replay.answer(call) for call in calls] == [
        await environment.answer(call) for call in calls
    ]
    assert {call.tool for call in calls} >= {tool for tool, _ in CHAIN}
    assert (replay.tools, replay.links) == (environment.tools, environment.links)
    stored.close()
    environment.close()
    assert prefect_server.addresses() <= {"127.0.0.1", "::1", "localhost"}
