import json
from collections import Counter
from pathlib import Path

from callwright.generators.catalogs import read_catalog


def test_the_tools_of_the_published_records_stand_in_sixty_categories(shared: Path) -> None:
    catalog = read_catalog("hammerbench", shared / "data" / "hammerbench" / "sample100")
    assert (catalog.entries, catalog.distinct) == (16116, 787)
    assert Counter(tool.language for tool in catalog.tools) == {"en": 632, "zh": 619}
    assert len({tool.category for tool in catalog.tools}) == 60
    kinds = Counter(problem.kind for problem in catalog.problems)
    assert kinds == {"renamed_type": 28, "other_format": 6, "all_required": 1}


def test_a_tool_of_many_records_is_kept_once_with_its_category(tmp_path: Path) -> None:
    tool = {
        "name": "Home.Lights.dim",
        "description": "把灯调暗",
        "parameters": {
            "type": "object",
            "properties": {"level": {"type": "float"}},
            "required": ["level"],
        },
    }
    path = tmp_path / "records.json"
    path.write_text(
        json.dumps(
            [{"multiple_tools": [tool], "single_tool": [tool]}, {"multiple_tools": [tool]}, 3]
        )
    )
    catalog = read_catalog("hammerbench", path)
    (kept,) = catalog.tools
    assert catalog.entries == 3
    assert (kept.category, kept.language, kept.properties) == (
        "Home.Lights",
        "zh",
        {"level": {"type": "number"}},
    )
    assert {problem.kind for problem in catalog.problems} == {
        "renamed_type",
        "other_format",
        "all_required",
    }
