"""A plan, and what the stages make of it, for the tests of the four stages."""

from collections.abc import Mapping, Sequence
from random import Random

from callwright.generators.stages import StageContext
from callwright.generators.toolset.sketches import ParameterSketch, ResultSketch
from callwright.llm.chat import ChatModel
from callwright.testing import Line, ScriptedModel
from callwright.warehouse.records import (
    DescribedTool,
    Language,
    NamedTool,
    ParameterisedTool,
    ToolsetPlan,
)


def plan(language: Language = "en", count: int = 2) -> ToolsetPlan:
    english = ("set an alarm", "start a timer", "start the stopwatch")
    chinese = ("设置闹钟", "开始倒计时", "启动秒表")
    is_english = language == "en"
    return ToolsetPlan(
        category="Clock",
        description="alarms and timers" if is_english else "闹钟和倒计时",
        goals=english if is_english else chinese,
        resources=("alarm",) if is_english else ("闹钟",),
        english_goals=() if is_english else english,
        english_resources=() if is_english else ("alarm",),
        language=language,
        count=count,
        seed=7,
    )


def named(language: Language = "en", name: str = "Clock.Alarms.setAlarm") -> NamedTool:
    return NamedTool(
        plan=plan(language), name=name, goal="set an alarm" if language == "en" else "设置闹钟"
    )


def described(language: Language = "en", name: str = "Clock.Alarms.setAlarm") -> DescribedTool:
    return DescribedTool(
        named=named(language, name),
        description="Set an alarm." if language == "en" else "设置闹钟。",
    )


def parameterised(name: str = "Clock.Alarms.setAlarm") -> ParameterisedTool:
    schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    return ParameterisedTool(described=described(name=name), parameters=schema)


def context(chat: ChatModel) -> StageContext:
    return StageContext(chat, Random(0), {})


def scripted(script: Mapping[str, Sequence[Line]]) -> tuple[ScriptedModel, StageContext]:
    model = ScriptedModel(script)
    return model, context(model)


def parameter(name: str = "time", **changes: object) -> ParameterSketch:
    return ParameterSketch.model_validate(
        {
            "name": name,
            "kind": "time",
            "description": f"{name} of the alarm",
            "required": True,
            **changes,
        }
    )


def result(name: str = "success", **changes: object) -> ResultSketch:
    return ResultSketch.model_validate(
        {"name": name, "kind": "boolean", "description": f"{name} told", **changes}
    )
