"""A taskset for verifiers (v1): a package to install, whose tasks play in their worlds and are judged by how these end."""

from callwright.warehouse.exports.tasks import TaskFormat
from callwright.warehouse.exports.writing import Format

_WORLDS = TaskFormat(
    {
        "pyproject.toml": "verifiers_project.toml.j2",
        "callwright_{word}/__init__.py": "verifiers_init.py.j2",
        "callwright_{word}/taskset.py": "verifiers_taskset.py.j2",
        "test_taskset.py": "verifiers_tests.py.j2",
    },
    root="callwright_{word}/",
)
FORMAT = Format(
    name="verifiers",
    holds="a taskset of the tasks, each in its world, and its tests",
    readers="verifiers 0.4 and newer (`verifiers.v1`), once the folder is installed",
    begin=_WORLDS.begin,
    complete=_WORLDS.complete,
    is_for_training=True,
    has_worlds=True,
)
