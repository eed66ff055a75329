"""A Prefect server filled through its own API: flows, deployments, queues, runs, tasks, logs,
artifacts, variables.
"""

import json
import time
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

FLOWS = (
    "daily-sales",
    "clean-orders",
    "train-forecast",
    "send-invoices",
    "sync-warehouse",
    "weather-digest",
)
STATES = ("COMPLETED", "FAILED", "COMPLETED", "SCHEDULED", "CRASHED", "COMPLETED")
# No name says anything of another, so that each thing is found by its own name only.
RUNS = ("amber-otter", "brave-finch", "calm-badger", "dusty-heron", "eager-lynx", "fuzzy-mole")
LATER_RUNS = (
    "gentle-newt",
    "humble-crane",
    "ivory-stoat",
    "jolly-wren",
    "keen-marten",
    "lucid-toad",
)
REPORTS = ("margins", "duplicates", "accuracy", "payments", "inventory", "rainfall")
POOLS = {"small-machines": ("nightly", "hourly"), "large-machines": ("training",)}
BUSY = 503  # its database is locked for a moment
PATIENCE = 100
STARTED = "2026-03-{day:02d}T0{hour}:15:00+00:00"


class Api:
    """A Prefect server's API, asked without Prefect's client."""

    def __init__(self, url: str) -> None:
        self.url = url

    def put(self, path: str, **body: Any) -> Any:
        request = Request(  # noqa: S310
            f"{self.url}/{path}", json.dumps(body).encode(), {"content-type": "application/json"}
        )
        return json.loads(self._sent(request) or b"null")

    def put_all(self, path: str, bodies: list[dict[str, Any]]) -> None:
        request = Request(  # noqa: S310
            f"{self.url}/{path}", json.dumps(bodies).encode(), {"content-type": "application/json"}
        )
        self._sent(request)

    def _sent(self, request: Request) -> bytes:
        for _ in range(PATIENCE):
            try:
                with urlopen(request) as answer:  # noqa: S310 - our own server
                    return answer.read()
            except HTTPError as error:
                if error.code != BUSY:
                    raise AssertionError(f"{request.full_url}: {error.read().decode()}") from error
                error.close()
                time.sleep(0.2)
        raise AssertionError(f"{request.full_url}: the server stayed busy.")

    def document(self, path: Path) -> Path:
        """The server's own OpenAPI document, written to `path`."""
        with urlopen(self.url.removesuffix("/api") + "/openapi.json") as answer:  # noqa: S310
            path.write_bytes(answer.read())
        return path


def fill(url: str) -> None:
    """Put a small company's work on the server, unless it is there already: a session has one
    server.
    """
    api = Api(url)
    if any(pool["name"] in POOLS for pool in api.put("work_pools/filter", limit=200)):
        return
    for pool, queues in POOLS.items():
        api.put(
            "work_pools/",
            name=pool,
            type="process",
            description=f"Runs on {pool}.",
            concurrency_limit=4,
        )
        for queue in queues:
            api.put(
                f"work_pools/{pool}/queues",
                name=queue,
                description=f"What runs {queue}.",
                concurrency_limit=2,
            )
    queues = [(pool, queue) for pool, names in POOLS.items() for queue in names]
    for number, name in enumerate(FLOWS):
        _fill_flow(api, number, name, queues)
    for name, value in {
        "report_language": "en",
        "order_limit": 250,
        "mail_sender": "reports@example.com",
    }.items():
        api.put("variables/", name=name, value=value, tags=["settings"])
    for tag, limit in {"database": 3, "mail": 1}.items():
        api.put("concurrency_limits/", tag=tag, concurrency_limit=limit)


def _fill_flow(api: Api, number: int, name: str, queues: list[tuple[str, str]]) -> None:
    flow = api.put("flows/", name=name, tags=[("sales", "finance", "science")[number % 3]])
    for index, deployed in enumerate(("production", "staging")):
        pool, queue = queues[(number + index) % len(queues)]
        deployment = api.put(
            "deployments/",
            name=deployed,
            flow_id=flow["id"],
            work_pool_name=pool,
            work_queue_name=queue,
            tags=[deployed],
            description=f"{name} for {deployed}.",
            entrypoint=f"flows/{name}.py:main",
            schedules=[
                {
                    "active": False,
                    "schedule": {
                        "interval": 3600 * (number + 1),
                        "anchor_date": "2026-01-01T00:00:00Z",
                    },
                }
            ],
        )
        _fill_run(api, number, index, deployment["id"], name)


def _fill_run(api: Api, number: int, index: int, deployment: str, flow: str) -> None:
    state = STATES[(number + index) % len(STATES)]
    run = api.put(
        f"deployments/{deployment}/create_flow_run",
        name=(RUNS, LATER_RUNS)[index][number],
        state={"type": state, "name": state.title(), "message": "The run has come to this."},
        tags=["nightly"],
    )
    started = STARTED.format(day=number + 1, hour=index + 1)
    task = api.put(
        "task_runs/",
        name=("load", "transform", "upload")[number % 3],
        flow_run_id=run["id"],
        task_key="load",
        dynamic_key=str(index),
        state={"type": "COMPLETED", "name": "Completed"},
    )
    api.put(
        "artifacts/",
        key=f"{REPORTS[number]}-{('table', 'chart')[index]}",
        type="markdown",
        description="What the run found.",
        data=f"# {flow}\n{number * 17 + index} rows",
        flow_run_id=run["id"],
        task_run_id=task["id"],
    )
    lines = [("Started.", 20), (f"Read {number * 17 + 40} rows.", 20), ("All is done.", 30)]
    logs = [
        {
            "name": "prefect.flow_runs",
            "level": level,
            "message": text,
            "timestamp": started,
            "flow_run_id": run["id"],
        }
        for text, level in lines
    ]
    api.put_all("logs/", logs)
