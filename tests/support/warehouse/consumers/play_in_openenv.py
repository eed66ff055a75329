"""Run where openenv is installed: its client plays the tasks of an export over the network, two
sessions at the same time.

Argument: the folder. It prints the rewards of the gold and of doing nothing, and how many tools the
first task has.
"""

import json
import os
import sys
import threading
import time

import uvicorn
from openenv import GenericEnvClient

os.chdir(sys.argv[1])
sys.path.insert(0, sys.argv[1])
from server import TASKS, app  # noqa: E402 - it stands in the folder

server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error"))
threading.Thread(target=server.run, daemon=True).start()
while not server.started:
    time.sleep(0.05)


def action(turn):
    named = (
        ("reply_to_user", {"text": turn}) if isinstance(turn, str) else (turn.tool, turn.arguments)
    )
    return {"type": "call_tool", "tool_name": named[0], "arguments": dict(named[1])}


address = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
gold, idle, tools = [], [], []
with (
    GenericEnvClient(base_url=address).sync() as acting,
    GenericEnvClient(base_url=address).sync() as waiting,
):
    for task in TASKS:
        begun = acting.reset(task=task.key)
        waiting.reset(task=task.key)
        tools.append(len(acting.step({"type": "list_tools"}).observation["tools"]))
        earned = [acting.step(action(turn)).reward for turn in (*task.solution, task.reply)]
        gold.append(sum(earned))
        idle.append(waiting.step(action("")).reward)
print(json.dumps({"gold": gold, "idle": idle, "tools": tools}))
os._exit(0)
