"""Tasks of tau2-bench are read with the tools, models and database of their domain."""

import json
from pathlib import Path

import pytest

from callwright.generators.imports.reading import SOURCES, ImportedRecord, read_samples
from callwright.generators.imports.tau2 import read_tau2_tasks
from callwright.validators.audit.findings import find_in_record
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import CallTurn

MODELS = """
Size = Literal["small", "large"]
class Named(BaseModel):
    name: str
class Part(Named):
    count: int = Field(description="How many.")
    note: str = Field(default="", description="A note.")
    inner: Optional["Part"] = None
"""
TOOLS = """
raise SystemExit("This is never run.")
class ShopTools(ToolKitBase):
    def _private(self, order_id: str): ...
    @is_tool(ToolType.WRITE)
    def add_parts(self, order_id: str, parts: List[Part | dict], size: Size = "small") -> Order:
        \"\"\"Add parts to an order.

        Args:
            order_id: The order's id, such as #W1.
        \"\"\"
    @is_tool(ToolType.READ)
    def find(self, price: Union[int, float], open: bool, tags: Dict[str, str]): ...
"""


def action(name: str, **arguments: object) -> dict[str, object]:
    return {"action_id": "0", "name": name, "arguments": arguments}


def task(*actions: object, instructions: object = "Add to #W7.") -> dict[str, object]:
    criteria = {"actions": list(actions)}
    scenario = {"instructions": instructions}
    return {"id": "t-1", "user_scenario": scenario, "evaluation_criteria": criteria}


def read(folder: Path, *tasks: object, database: object = None) -> list[ImportedRecord]:
    source, data = (folder / part / "tau2/domains/shop" for part in ("src", "data"))
    for place in (source, data):
        place.mkdir(parents=True, exist_ok=True)
    (source / "tools.py").write_text(TOOLS, encoding="utf-8")
    (source / "data_model.py").write_text(MODELS, encoding="utf-8")
    (data / "tasks.json").write_text(json.dumps(tasks, indent=1), encoding="utf-8")
    if database:
        (data / "db.json").write_text(json.dumps(database), encoding="utf-8")
    return [*read_tau2_tasks(folder)]


def test_the_tools_of_a_domain_are_read_and_not_run(tmp_path: Path) -> None:
    [record] = read(tmp_path, task())
    add, find = record.tools
    assert (add.name, add.description) == ("add_parts", "Add parts to an order.")
    assert add.required == ("order_id", "parts")
    assert add.properties["order_id"]["description"] == "The order's id, such as #W1."
    assert add.properties["size"]["enum"] == ["small", "large"]
    [part, _] = add.properties["parts"]["items"]["anyOf"]
    assert part["required"] == ["name", "count"]
    assert [one.get("type") for one in find.properties.values()] == [None, "boolean", "object"]


def test_what_is_expected_of_the_agent_is_the_gold_of_what_the_user_wants(tmp_path: Path) -> None:
    of_user = {**action("plug_in"), "requestor": "user"}
    told = {"reason_for_call": "Add a bolt.", "known_info": "You are Ann.", "domain": "shop"}
    added = action("add_parts", order_id="#W7", parts=[{"name": "bolt", "count": 2}])
    [record] = read(tmp_path, task(of_user, added, instructions=told))
    assert record.sample
    assert record.sample.request == "Add a bolt.\nYou are Ann."
    [call] = record.sample.gold
    assert call.tool == "add_parts"
    assert (record.item, record.line) == ("t-1", 2)
    assert [*find_in_record(record)] == []
    [no_sample] = read_samples(SOURCES.named("tau2"), tmp_path)
    assert no_sample.sample is None


def test_an_id_that_neither_the_database_nor_the_user_has_is_a_warning(tmp_path: Path) -> None:
    parts = [{"name": "bolt-9", "count": 2}]
    actions = [action("add_parts", order_id=one, parts=parts) for one in ("#W7", "#W8", "#W9")]
    added = {"initial_state": {"orders": {"#W9": {}}}}
    [record] = read(tmp_path, {**task(*actions), **added}, database={"parts": ["bolt-9"]})
    [found] = find_in_record(record)
    assert (found.severity, found.sort, found.gold) == ("warning", "not_said", "#W8")


def test_tasks_that_can_not_be_read_are_told(tmp_path: Path) -> None:
    broken = task({"name": 3}), task(instructions={}), [], task()
    *told, whole = read(tmp_path, *broken)
    assert [record.sample for record in told] == [None] * 3
    assert whole.sample
    assert whole.sample.turns[-1] == CallTurn()
    (tmp_path / "src/tau2/domains/shop/tools.py").unlink()
    [record] = read_tau2_tasks(tmp_path)
    assert "tools.py" in record.problems[0].message
    with pytest.raises(ConfigurationError, match="tasks"):
        [*read_tau2_tasks(tmp_path / "src")]


def test_an_id_may_be_said_without_its_sign(tmp_path: Path) -> None:
    told = {"reason_for_call": "Add a bolt to order W8.", "known_info": "", "domain": "shop"}
    added = action("add_parts", order_id="#W8", parts=[{"name": "bolt", "count": 2}])
    [record] = read(tmp_path, task(added, instructions=told), database={"parts": ["bolt"]})
    assert [*find_in_record(record)] == []
