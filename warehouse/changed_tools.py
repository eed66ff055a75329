"""Tools that candidates were shown under other words: which changes there are, and what they did to the answers."""

from typing import NamedTuple

import orjson

from callwright.warehouse.queries import sql
from callwright.warehouse.records import ToolsShown
from callwright.warehouse.rows import Row
from callwright.warehouse.store import Warehouse


class ToolComparison(NamedTuple):
    """A candidate with changed tools beside itself with the tools as they are, over the samples that both have answered.

    `effects` are rows of the view changed_tool_effects, the first over all samples; none where it has not been asked with the
    tools as they are. `confusions` are the pairs of tools that are mixed up `before` and `after`, `metrics` all figures so.
    """

    candidate: str
    strategy: str
    plain_strategy: str
    tools_shown: ToolsShown
    split: str
    effects: list[Row]
    confusions: list[Row]
    metrics: list[Row]
    tools: list[Row]

    @property
    def whole(self) -> Row | None:
        """The effect over all samples, None where there is nothing to compare with."""
        return self.effects[0] if self.effects else None

    @property
    def by_tool(self) -> list[Row]:
        """The effect by tool: those that changed most first."""
        return self.effects[1:]


class MadeChange(NamedTuple):
    """Changed tools that a candidate was asked with, under a strategy; whether it was asked with the tools as they are, too."""

    strategy: str
    plain_strategy: str
    name: str
    candidate: str
    tools_shown: ToolsShown
    is_paired: bool


def list_changes(warehouse: Warehouse, release: str) -> list[MadeChange]:
    """All changes of tools that a release was evaluated with, by candidate, the newest first."""
    rows = warehouse.rows(sql("tool_changes.made"), [release])
    return [MadeChange(**{name: row[name] for name in MadeChange._fields}) for row in rows]


def compare_tools(warehouse: Warehouse, release: str, change: MadeChange, split: str = "") -> ToolComparison:
    """What a change does to a candidate's answers on a release, or on a split of it."""
    of = [release, change.candidate, change.strategy, change.tools_shown]
    found = warehouse.rows_by_name(
        {
            "effects": (sql("tool_changes.effects"), [*of, split]),
            "confusions": (sql("tool_changes.confusions"), of),
            "metrics": (sql("tool_changes.metrics"), [*of, split]),
            "tools": (sql("tool_changes.tools"), [release, change.strategy]),
        }
    )
    found["tools"] = [row | {name: orjson.loads(row[name]) for name in ("words", "shown")} for row in found["tools"]]
    return ToolComparison(change.candidate, change.strategy, change.plain_strategy, change.tools_shown, split, **found)


def effect_sentence(row: Row) -> str:
    """An effect in words: how many samples it makes right or wrong, and whether that may be chance."""
    chance = "that may well be chance" if row["p_value"] >= 0.05 else "that is hardly chance"  # noqa: PLR2004 - the usual bound
    return (
        f"{row['better']} of {row['samples']} samples are right with the changed tools alone, {row['worse']} with the tools as"
        f" they are alone: a difference of {row['difference']:+.3f} (95 %: {row['low']:+.3f} to {row['high']:+.3f}),"
        f" p = {row['p_value']:.4f}; {chance} (McNemar's exact test)."
    )
