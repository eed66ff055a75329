"""Run where nemo-gym is installed: an agent's requests to the resources server of an export, row by
row.

Argument: the folder. It prints the rewards of the gold and of doing nothing, and what a call
without a session is answered.
"""

import json
import os
import sys
from pathlib import Path

from nemo_gym.config_types import BaseServerConfig
from nemo_gym.server_utils import ServerClient
from omegaconf import OmegaConf
from starlette.testclient import TestClient

import callwright

folder = Path(sys.argv[1]) / "environment"
os.chdir(folder)
sys.path.insert(0, str(folder))
from app import WorldConfig, WorldServer  # noqa: E402 - it stands in the folder

client = ServerClient(
    head_server_config=BaseServerConfig(host="127.0.0.1", port=1),
    global_config_dict=OmegaConf.create({}),
)
config = WorldConfig(name="worlds", host="127.0.0.1", port=1, entrypoint="app.py", domain="agent")
app = WorldServer(config=config, server_client=client).setup_webserver()
tasks = callwright.load_tasks(folder)
rows = [
    json.loads(line)
    for path in sorted((folder / "data").glob("*.jsonl"))
    for line in path.read_text().splitlines()
]
RESPONSE = {
    "id": "r",
    "created_at": 0,
    "model": "m",
    "object": "response",
    "parallel_tool_calls": False,
    "tool_choice": "auto",
    "tools": [],
}


def said(text: str) -> dict:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": content,
    }


def reward_of(row: dict, turns: tuple, reply: str) -> float:
    with TestClient(app) as agent:
        assert agent.post("/seed_session", json=row).status_code == 200
        for turn in turns:
            named = (
                ("reply_to_user", {"text": turn})
                if isinstance(turn, str)
                else (turn.tool, turn.arguments)
            )
            assert agent.post(f"/{named[0]}", json=named[1]).status_code == 200
        judged = agent.post(
            "/verify", json=row | {"response": RESPONSE | {"output": [said(reply)]}}
        )
        assert judged.status_code == 200, judged.text
        return judged.json()["reward"]


known = [tasks.of_key(row["key"]) for row in rows]
gold = [reward_of(row, task.solution, task.reply) for row, task in zip(rows, known, strict=True)]
idle = [reward_of(row, (), "") for row in rows]
with TestClient(app) as agent:
    late = agent.post(f"/{tasks[0].gold[0].tool}", json={})
print(json.dumps({"gold": gold, "idle": idle, "late": [late.status_code, late.json()["detail"]]}))
