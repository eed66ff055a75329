"""Whether a rule of the document that nothing here reads may speak about a call.

Code can't tell whether the call keeps it: people do, or a model that reads language and makes the
same call without knowing it.
"""

from collections.abc import Iterator

from callwright.generators.kinds import traits_of
from callwright.generators.shifts.turns import is_conversation
from callwright.generators.stages import StageContext
from callwright.generators.whole_calls import unread_rules_of
from callwright.language.calls.unread_rules import UnreadRule
from callwright.validators.checks.declaring import RULES, rule
from callwright.validators.checks.verdicts import Finding, proved, unproved
from callwright.warehouse.records import Arguments, DoubtedFact, Sample, Tool


@rule(
    "unread_rules",
    "1",
    "Does no rule that only the document's prose states speak about the calls?",
    source="docs/checks.md",
    applies=lambda sample: bool(sample.all_calls) and not traits_of(sample.kind).is_taken,
    settles=RULES,
    left_to="readers",
    doubts={
        "unread_rule": "The document says of {tool}: “{said}”. callwright does not read this rule."
    },
)
def check_unread_rules(sample: Sample, context: StageContext) -> Iterator[Finding]:
    """Find the sentences about a called tool and its parameters that no rule was made of."""
    tools = {tool.name: tool for tool in context.toolset(sample.candidates)}
    snapshots = list(sample.snapshots())
    is_growing = not (is_conversation(sample) or traits_of(sample.kind).is_executed)
    told: set[tuple[str, str]] = set()
    for snapshot in snapshots:
        is_final = snapshot is snapshots[-1] or not is_growing  # else more is said later
        for call in (one for one in snapshot.calls if one.tool in tools):
            for unread in _speaking(tools[call.tool], call.arguments, is_final=is_final):
                if (call.tool, unread.sentence) not in told:
                    told.add((call.tool, unread.sentence))
                    yield _doubt(call.tool, unread)
    yield proved("No rule that callwright does not read speaks about the calls.")


def _speaking(tool: Tool, arguments: Arguments, *, is_final: bool) -> Iterator[UnreadRule]:
    """Yield a tool's unread rules that may speak about a call."""
    given = {**tool.constants, **arguments}
    is_whole = is_final and given.keys() >= {*tool.required}
    yield from (one for one in unread_rules_of(tool) if one.speaks_of(given, is_whole=is_whole))


def _doubt(tool: str, unread: UnreadRule) -> Finding:
    fact = DoubtedFact(kind="unread_rule", tool=tool, argument=unread.about, other=unread.sentence)
    reason = f'The document says of {tool!r}: "{unread.sentence}". callwright does not read it.'
    return unproved(reason, fact)
