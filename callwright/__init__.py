"""Function-calling datasets that people trust, and what is measured on them.

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
takes; the command `callwright` works on the same folder. docs/python.md goes through all of it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from callwright.flows.api.building import (
        build,
        build_async,
        check_records,
        check_records_async,
        check_requests,
        check_requests_async,
        make_recipe,
        preview,
        read_recipe,
    )
    from callwright.flows.api.evaluating import Evaluation, evaluate, evaluate_async
    from callwright.flows.api.releases import (
        KeptSample,
        LoadedRelease,
        create_release,
        load_release,
        samples,
    )
    from callwright.flows.api.surroundings import ProgressStep
    from callwright.flows.api.tasks import load_tasks
    from callwright.flows.evaluation.gate import AnsweredItem
    from callwright.flows.recipe import Recipe
    from callwright.flows.run.land import BuildReport
    from callwright.generators.catalogs.python_tools import tool_from
    from callwright.validators.tasks import Episode
    from callwright.warehouse.errors import CallwrightError, ConfigurationError
    from callwright.warehouse.records import Call, Evidence, Sample, Tool

# Where each name stands: nothing is imported before it is used.
_PLACES = {
    "flows.api.building": (
        "build",
        "build_async",
        "check_records",
        "check_records_async",
        "check_requests",
        "check_requests_async",
        "make_recipe",
        "preview",
        "read_recipe",
    ),
    "flows.api.evaluating": ("Evaluation", "evaluate", "evaluate_async"),
    "flows.api.releases": (
        "KeptSample",
        "LoadedRelease",
        "create_release",
        "load_release",
        "samples",
    ),
    "flows.api.surroundings": ("ProgressStep",),
    "flows.api.tasks": ("load_tasks",),
    "flows.run.land": ("BuildReport",),
    "flows.evaluation.gate": ("AnsweredItem",),
    "flows.recipe": ("Recipe",),
    "generators.catalogs.python_tools": ("tool_from",),
    "validators.tasks": ("Episode",),
    "warehouse.errors": ("CallwrightError", "ConfigurationError"),
    "warehouse.records": ("Call", "Evidence", "Sample", "Tool"),
}
_PLACE_OF = {name: place for place, names in _PLACES.items() for name in names}
__all__ = [
    "AnsweredItem",
    "BuildReport",
    "Call",
    "CallwrightError",
    "ConfigurationError",
    "Episode",
    "Evaluation",
    "Evidence",
    "KeptSample",
    "LoadedRelease",
    "ProgressStep",
    "Recipe",
    "Sample",
    "Tool",
    "build",
    "build_async",
    "check_records",
    "check_records_async",
    "check_requests",
    "check_requests_async",
    "create_release",
    "evaluate",
    "evaluate_async",
    "load_release",
    "load_tasks",
    "make_recipe",
    "preview",
    "read_recipe",
    "samples",
    "tool_from",
]


def __getattr__(name: str) -> object:
    if name not in _PLACE_OF:
        raise AttributeError(
            f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}"
        )
    return getattr(import_module(f"{__name__}.{_PLACE_OF[name]}"), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
