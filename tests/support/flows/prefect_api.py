"""Asking a Prefect server what it knows, without Prefect's client."""

import json
import time
from http import HTTPStatus
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from tests.support.servers import HeardPrefect

_TRIES = 20


class PrefectRecords:
    """What a server knows of flow runs, task runs, artifacts, logs and deployments."""

    def __init__(self, prefect: HeardPrefect) -> None:
        self.api = prefect.server.api

    def ask(self, path: str, question: dict[str, Any] | None = None) -> Any:
        body = None if question is None else json.dumps(question).encode()
        request = Request(f"{self.api}/{path}", body, {"content-type": "application/json"})  # noqa: S310 - our own server
        for _ in range(_TRIES):  # as Prefect's own client: its SQLite may be locked for a moment
            try:
                with urlopen(request) as answer:  # noqa: S310
                    return json.load(answer)
            except HTTPError as error:
                if error.code != HTTPStatus.SERVICE_UNAVAILABLE:
                    raise
                time.sleep(1)
        raise AssertionError(f"{path}: the server was busy for {_TRIES} seconds")

    def runs(self, flow: str) -> list[dict[str, Any]]:
        """The runs of a flow that have begun, the newest first."""
        begun = {"start_time": {"is_null_": False}}
        question = {
            "flows": {"name": {"any_": [flow]}},
            "flow_runs": begun,
            "sort": "START_TIME_DESC",
        }
        return self.ask("flow_runs/filter", question)

    def tasks(self, run: dict[str, Any]) -> list[dict[str, Any]]:
        return self.ask("task_runs/filter", {"flow_runs": {"id": {"any_": [run["id"]]}}})

    def groups(self, run: dict[str, Any]) -> dict[str, dict[str, Any]]:
        """The flows that a flow run ran, by the name of the flow."""
        parents = {task["id"] for task in self.tasks(run)}
        flows = ("make-samples", "check-samples", "measure-readers", "land-samples")
        return {
            flow: found
            for flow in flows
            for found in self.runs(flow)
            if found["parent_task_run_id"] in parents
        }

    def artifacts(self, run: dict[str, Any]) -> list[dict[str, Any]]:
        """What a flow run shows."""
        return self.ask("artifacts/filter", {"flow_runs": {"id": {"any_": [run["id"]]}}})

    def logs(self, run: dict[str, Any]) -> list[str]:
        """What a flow run logged."""
        found = self.ask("logs/filter", {"logs": {"flow_run_id": {"any_": [run["id"]]}}})
        return [line["message"] for line in found]
