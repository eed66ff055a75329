"""Whether the user's words ask for exactly the calls that are due: every deed served, every call asked for, no word left over.

Where several calls are due, or several turns lead to them; requests for one call are read by the check of coverage.
"""

from collections.abc import Sequence

from callwright.generators.kinds import traits_of
from callwright.generators.shifts.turns import is_path, is_simulated, was_made_already
from callwright.generators.stages import StageContext
from callwright.language.calls.frames import glue_of
from callwright.language.calls.parsing import read_request
from callwright.validators.checks.declaring import ALL, rule
from callwright.validators.checks.evidence import is_routed
from callwright.validators.checks.statements import view_tool
from callwright.validators.checks.verdicts import Finding, unproved
from callwright.validators.wishes.accounts import REQUEST, TurnAccount, deeds_in, misbound, without, words_left
from callwright.validators.wishes.catalogs import find_in_catalog
from callwright.validators.wishes.conversations import find_in_conversation
from callwright.validators.wishes.paths import find_in_path
from callwright.warehouse.records import DoubtedFact, Sample, Tool, UserTurn


def applies_to(sample: Sample) -> bool:
    """Whether rules can read all that the user wants of such a sample."""
    return is_simulated(sample) or _is_set(sample) or is_routed(sample) or is_path(sample)


@rule(
    "wishes", "3",
    "Do the user's words ask for just the calls that are made, where turns or calls are several?",
    source="CONFETTI 3.1, CallNavi 4.1",
    applies=applies_to,
    settles=ALL,
    left_to="readers",
    proof="The words ask for these calls and for nothing else.",
    doubts={
        "asked_otherwise": "The user asks for {tool} with other values than it is called with.",
        "unasked": "Nobody asks for the call of {tool}{where}.",
        "calls_miscounted": "The words seem to ask for {other} things, and {value} calls are due.",
        "question_amiss": "The assistant's question does not fit what {tool} still lacks.",
        "no_choice": "The assistant's question offers no choice.",
    },
)  # fmt: skip
def check_wishes(sample: Sample, context: StageContext) -> list[Finding]:
    """Read what the user asks for, turn by turn, and hold the calls against it."""
    return _find(sample, context)


def _is_set(sample: Sample) -> bool:
    traits = traits_of(sample.kind)
    return traits.asked == "plan" and traits.calls == "set" and not was_made_already(sample)


def _find(sample: Sample, context: StageContext) -> list[Finding]:
    tools = context.toolset(sample.candidates)
    if is_path(sample):
        return find_in_path(sample, tools)
    if is_routed(sample):
        return find_in_catalog(sample, {tool.name: tool for tool in tools})
    if _is_set(sample):
        return find_in_parallel(sample, tools)
    return find_in_conversation(sample, tools, context.toolset(sample.withheld))


_LEADS = ("parallel.leads", "parallel.begins", "parallel.ends")


def find_in_parallel(sample: Sample, tools: Sequence[Tool]) -> list[Finding]:
    """What speaks against the calls that are due being those that the words ask for."""
    text = " ".join(turn.text for turn in sample.turns if isinstance(turn, UserTurn))
    views = {tool.name: view_tool(tool) for tool in tools}
    deeds = deeds_in(text, tuple(views.values()), {call.tool for call in sample.gold})
    account = TurnAccount(text, sample.language)
    account.allow(*REQUEST, *_LEADS)
    leads = glue_of(sample.language, "parallel.leads")
    left = list(sample.gold)
    found: list[Finding] = []
    for deed in deeds:
        words = without(text[deed.start : deed.end], leads)
        stated = read_request(deed.view, words)
        account.know(deed.view)
        account.cover_values(deed.view, stated, deed.start, deed.end)
        call = next((one for one in left if (one.tool, one.arguments) == (deed.view.name, stated)), None)
        if call is None:
            reason = f"{deed.view.name} is asked for with {stated!r}, and no such call is due."
            found.append(unproved(reason, DoubtedFact(kind="asked_not_made", tool=deed.view.name)))
            continue
        left.remove(call)
        found += misbound(deed.view, call.arguments, words, sample.language)
    for call in left:
        fact = DoubtedFact(kind="unasked", tool=call.tool)
        found.append(unproved(f"Nobody asks for the call of {call.tool} with {call.arguments!r}.", fact))
    return found + [words_left(words) for words in account.left_over()]
