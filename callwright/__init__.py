"""Function-calling datasets that people can trust, and evaluations on them.

    import callwright

    def get_weather(city: str, day: str = "today") -> str:
        '''Tell the weather of a city.'''

    tools = [get_weather, {"seed": ["Weather"]}]
    recipe = callwright.make_recipe("mine", tools=tools, samples={"perfect": 20})
    callwright.build(recipe)
    for kept in callwright.samples("grade = 'proved'"):
        print(kept.request, kept.calls[0].arguments, kept.evidence[0].quote)
    callwright.create_release("v1").export("openai", "train", with_template=True)
    found = callwright.evaluate("v1", lambda messages, tools: [("get_weather", {"city": "Ulm"})])
    print(found.figures["args_acc"], len(found.failures))

Everything is kept in `.callwright/` in the current folder, or in the `home` that each function
takes; the command `callwright` works on the same folder. docs/python.md explains it all.
"""

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the one list of names: a name is imported when it is first used
    from callwright.flows.api.auditing import audit as audit
    from callwright.flows.api.auditing import audit_async as audit_async
    from callwright.flows.api.building import build as build
    from callwright.flows.api.building import build_async as build_async
    from callwright.flows.api.building import check_records as check_records
    from callwright.flows.api.building import check_records_async as check_records_async
    from callwright.flows.api.building import check_requests as check_requests
    from callwright.flows.api.building import check_requests_async as check_requests_async
    from callwright.flows.api.building import make_recipe as make_recipe
    from callwright.flows.api.building import preview as preview
    from callwright.flows.api.building import read_recipe as read_recipe
    from callwright.flows.api.evaluating import Evaluation as Evaluation
    from callwright.flows.api.evaluating import evaluate as evaluate
    from callwright.flows.api.evaluating import evaluate_async as evaluate_async
    from callwright.flows.api.releases import KeptSample as KeptSample
    from callwright.flows.api.releases import LoadedRelease as LoadedRelease
    from callwright.flows.api.releases import create_release as create_release
    from callwright.flows.api.releases import load_release as load_release
    from callwright.flows.api.releases import samples as samples
    from callwright.flows.api.surroundings import ProgressStep as ProgressStep
    from callwright.flows.api.tasks import load_tasks as load_tasks
    from callwright.flows.data_audit.running import DataAudit as DataAudit
    from callwright.flows.evaluation.cheats import cheats as cheats
    from callwright.flows.evaluation.gate import AnsweredItem as AnsweredItem
    from callwright.flows.evaluation.tasks import Episode as Episode
    from callwright.flows.recipe import Recipe as Recipe
    from callwright.flows.run.land import BuildReport as BuildReport
    from callwright.generators.catalogs.python_tools import tool_from as tool_from
    from callwright.validators.audit.findings import Finding as Finding
    from callwright.warehouse.errors import CallwrightError as CallwrightError
    from callwright.warehouse.errors import ConfigurationError as ConfigurationError
    from callwright.warehouse.records import Call as Call
    from callwright.warehouse.records import Evidence as Evidence
    from callwright.warehouse.records import Sample as Sample
    from callwright.warehouse.records import Tool as Tool


@cache
def _places() -> dict[str, str]:
    """The module of each name in the list above."""
    import ast
    from pathlib import Path

    tree = ast.parse(Path(__file__).read_text(encoding="utf-8"))
    [names] = [node.body for node in tree.body if isinstance(node, ast.If)]
    return {
        node.names[0].name: node.module or "" for node in names if isinstance(node, ast.ImportFrom)
    }


def __getattr__(name: str) -> object:
    if name == "__all__":
        return sorted(_places())
    if name not in _places():
        known = ", ".join(sorted(_places()))
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {known}")
    return getattr(import_module(_places()[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *_places()]
