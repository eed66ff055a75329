"""Run where nemo-gym is installed: its own `ng_run` and agent over an export, with a model that
makes the gold's calls.

Arguments: the folder, and an empty one to run in. It prints what rollouts are worth: of a model
that makes the gold's calls, and of one that makes none.
"""

import json
import os
import signal
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from shutil import copytree
from threading import Thread

import httpx

import callwright

source, place = Path(sys.argv[1]) / "environment", Path(sys.argv[2])
programs = Path(sys.executable).parent
config = next((source / "configs").glob("*.yaml"))
name = config.stem
PARTS = (
    f"resources_servers/{name}",
    "responses_api_agents/simple_agent",
    "responses_api_models/vllm_model",
)
rows = [
    line
    for path in sorted((source / "data").glob("*.jsonl"))
    for line in path.read_text().splitlines()
]
tasks = {task.request: task for task in callwright.load_tasks(source)}


class Model(BaseHTTPRequestHandler):
    """Chat completions: the next call of the gold, then its last word; "idle" says the last word
    at once.
    """

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        said = next(one["content"] for one in asked["messages"] if one["role"] == "user")
        task = tasks[said if isinstance(said, str) else said[0]["text"]]
        done = sum(one["role"] == "tool" for one in asked["messages"])
        message = {"role": "assistant", "content": task.reply}
        if done < len(task.gold) and asked["model"] == "gold":
            call = task.gold[done]
            function = {"name": call.tool, "arguments": json.dumps(dict(call.arguments))}
            message |= {
                "content": None,
                "tool_calls": [{"id": f"c{done}", "type": "function", "function": function}],
            }
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        reason = "tool_calls" if "tool_calls" in message else "stop"
        choice = {"index": 0, "finish_reason": reason, "message": message}
        body = {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [choice],
            "usage": usage,
        }
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(json.dumps(body).encode())))
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def rewards_of(model: str, address: str) -> list[float]:
    stated = {"policy_base_url": address, "policy_api_key": "none", "policy_model_name": model}
    paths = f"+config_paths=[{PARTS[0]}/configs/{config.name},{PARTS[2]}/configs/vllm_model.yaml]"
    words = [paths, f"+uv_venv_dir={place / 'venvs'}", "+skip_venv_if_present=true"]
    log = place / f"{model}.log"
    with log.open("w") as out:
        command = [
            programs / "ng_run",
            *words,
            *(f"+{key}={value}" for key, value in stated.items()),
        ]
        servers = subprocess.Popen(
            command, cwd=place, stdout=out, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            for _ in range(600):
                if "All 3 / 3 servers ready" in log.read_text():
                    break
                assert servers.poll() is None, log.read_text()[-3000:]
                time.sleep(0.5)
            return [reward_of(row, agent()) for row in rows]
        finally:
            servers.send_signal(signal.SIGINT)
            try:
                servers.wait(60)
            finally:
                if servers.poll() is None:
                    os.killpg(servers.pid, signal.SIGKILL)


def agent() -> str:
    """Where the agent is served, as the head server knows."""
    found = httpx.get("http://127.0.0.1:11000/server_instances", timeout=60).json()
    return next(one["url"] for one in found if one["process_name"] == f"{name}_simple_agent")


def reward_of(row: str, url: str) -> float:
    """What a rollout of the agent is worth."""
    played = httpx.post(
        f"{url}/run", content=row, headers={"content-type": "application/json"}, timeout=300
    )
    return played.raise_for_status().json()["reward"]


os.environ |= {"PATH": f"{programs}:{os.environ['PATH']}", "RAY_raylet_start_wait_time_s": "240"}
copytree(source, place / PARTS[0])
for part in PARTS:
    (place / "venvs" / part).mkdir(parents=True)
    (place / "venvs" / part / ".venv").symlink_to(programs.parent)
server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
Thread(target=server.serve_forever, daemon=True).start()
address = f"http://127.0.0.1:{server.server_address[1]}/v1"
print(json.dumps({model: rewards_of(model, address) for model in ("gold", "idle")}))
