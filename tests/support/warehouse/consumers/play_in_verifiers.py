"""Run where verifiers is installed: whole episodes of an export's taskset, whose tools are served
over MCP, by an agent of ours.

Arguments: the folder, and how many tasks. The agent makes the gold calls and never says a word. It
prints the rewards and the errors, and which tools the first task was offered.
"""

import asyncio
import json
import os
import sys
import types
from pathlib import Path

folder, most = Path(sys.argv[1]).absolute(), int(sys.argv[2])
sys.path.insert(0, str(folder))
os.environ["PYTHONPATH"] = str(folder)  # the server of the tools is a process of its own

import verifiers.v1 as vf  # noqa: E402
from verifiers.v1.harnesses.utils.mcp import mcp_client  # noqa: E402
from verifiers.v1.utils.loaders import load_environment  # noqa: E402

import callwright  # noqa: E402

[word] = [path.name for path in folder.glob("callwright_*")]
TASKS = callwright.load_tasks(folder)
offered = []


class Player(vf.Harness[vf.HarnessConfig]):
    """An agent that knows the gold."""

    SUPPORTS_MCP = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self, ctx, trace, runtime, endpoint, secret, mcp_urls, data, tool_interception_url=None
    ):
        task = TASKS.of_key(data.id)
        [url] = mcp_urls.values()
        async with mcp_client({"url": url}) as client:
            offered.append(sorted(tool.name for tool in (await client.list_tools()).tools))
            for call in task.gold:
                answer = await client.call_tool(call.tool, dict(call.arguments))
                assert not answer.is_error, answer
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")


player = types.ModuleType("known_player")
player.Player, player.__all__ = Player, ["Player"]
sys.modules["known_player"] = player
player.__spec__ = types.SimpleNamespace(name="known_player")


async def played() -> dict:
    config = vf.SingleAgentEnvConfig.model_validate(
        {
            "taskset": {"id": word.replace("_", "-"), "split": ""},
            "agent": {"harness": {"id": "known_player"}, "runtime": {"type": "subprocess"}},
        }
    )
    env = load_environment(config)
    client = vf.EvalClientConfig(base_url="http://127.0.0.1:9/v1")
    async with env.serving():
        context = vf.ModelContext(model="none", client=client)
        episodes = [await env.run_episode(task, context) for task in env.taskset.take(most)]
    return {
        "rewards": [trace.rewards for one in episodes for trace in one.traces],
        "metrics": [trace.metrics for one in episodes for trace in one.traces],
        "errors": [
            str(error)[:800]
            for one in episodes
            for error in (*one.errors, *(e for t in one.traces for e in t.errors))
        ],
        "offered": offered[0] if offered else [],
    }


print(json.dumps(asyncio.run(played()), default=str))
