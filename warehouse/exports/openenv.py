"""A server for OpenEnv: each session plays a task in a world of its own, and is judged by how it ends."""

from callwright.warehouse.exports.tasks import TaskFormat
from callwright.warehouse.exports.writing import Format

_WORLDS = TaskFormat(
    {"server.py": "openenv_server.py.j2", "openenv.yaml": "openenv.yaml.j2", "test_server.py": "openenv_tests.py.j2"},
    root="",
)
FORMAT = Format(
    name="openenv",
    holds="a server of the tasks, each in its world, and its tests",
    readers="OpenEnv: `uvicorn server:app`",
    begin=_WORLDS.begin,
    complete=_WORLDS.complete,
    is_for_training=True,
    has_worlds=True,
)
