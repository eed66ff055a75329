from collections import Counter
from pathlib import Path

from callwright.generators.catalogs import read_catalog


def test_the_tools_of_the_published_records_stand_in_sixty_categories(shared: Path) -> None:
    catalog = read_catalog("hammerbench", shared / "data" / "hammerbench" / "sample100")
    assert (catalog.entries, catalog.distinct) == (16116, 787)
    assert Counter(tool.language for tool in catalog.tools) == {"en": 632, "zh": 619}
    assert len({tool.category for tool in catalog.tools}) == 60
    kinds = Counter(problem.kind for problem in catalog.problems)
    told = {"renamed_type": 28, "other_format": 6, "all_required": 1, "prose_rule": 1}
    told |= {"unclear_tool": 7, "doubted_rule": 1}
    assert kinds == told
