"""The table of checks: which there are, in which order samples meet them, what each asks, applies to and needs.

A new check is a module beside this one and a row here. A build that exists meets it by carrying what it has through that
check alone; so does one that meets a new version of a check, or of a prompt that a check asks with.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from callwright.generators.stages import Role, Stage, StageContext, StageFunction
from callwright.language.packs import has_folder, of
from callwright.validators.blind import one_call, several_calls
from callwright.validators.checks import (
    ambiguity,
    complexity,
    coverage,
    dialogue,
    facts,
    grounding,
    messages,
    path,
    routing,
    scenario,
    wording,
)
from callwright.validators.checks import (
    format as form,
)
from callwright.validators.checks.verdicts import CheckName, unproved, verdict_of
from callwright.validators.wishes import check as wishes
from callwright.warehouse.records import ClaimGrade, DoubtedFact, Sample, SampleClaim, Verdict

GROUP = "consistency"


def _always(_sample: Sample) -> bool:
    return True


def _check(  # noqa: PLR0913 - a row has as many columns
    name: str,
    version: str,
    about: str,
    source: str,
    function: StageFunction,
    *,
    applies: Callable[[Sample], bool] = _always,
    role: Role | None = None,
    prompts: tuple[str, ...] = (),
    threshold: str = "",
    settles: tuple[SampleClaim, ...] = (),
    is_left_to_readers: bool = False,
    needs_reader: bool = False,
    settles_rest: bool = False,
) -> Stage:
    """A row: `prompts` are those of validators/prompts, `role` answers them, `threshold` names a setting of the recipe.

    What a check proves are the claims that it `settles`. What a rule leaves open a model may settle that reads the sample blind
    (`is_left_to_readers`); where it may not, people are asked. One that `needs_reader` is asked of models alone that read language.
    One that `settles_rest` is asked only where the checks before it leave something open that it may settle.
    """
    if role is None and settles:
        function = _left_to_readers(name, version, function)
    templates = tuple(f"validators/prompts/{prompt}.j2" for prompt in prompts)
    return Stage(
        name, GROUP, about, "Sample", "Verdict", source, function, role, templates, applies, threshold,
        version=version, settles=settles, is_left_to_readers=is_left_to_readers, needs_reader=needs_reader,
        settles_rest=settles_rest,
    )  # fmt: skip


def _left_to_readers(name: str, version: str, function: StageFunction) -> StageFunction:
    """The rule, but for samples in a language that no rule knows: of these it proves nothing."""

    async def check(sample: Sample, context: StageContext) -> list[Verdict]:
        if has_folder(sample.language) or not any(snapshot.calls for snapshot in sample.snapshots()):
            return list(await function(sample, context))
        reason = f"No rules know the language {sample.language!r} ({of(sample.language).name})."
        return [verdict_of(sample, CheckName(name, version), [unproved(reason, DoubtedFact(kind="not_read"))], "")]

    return check


_ARGUMENTS: tuple[SampleClaim, ...] = ("arguments",)
_MEANING: tuple[SampleClaim, ...] = ("deed", "nothing_else", "no_call_missing")
_ALL = _ARGUMENTS + _MEANING


CHECKS: tuple[Stage, ...] = (
    _check(
        "format", form.VERSION, "Is the sample well-formed and its gold valid by the schema?",
        "HammerBench 4.2.1", form.check_format,
    ),
    _check(
        "wording", wording.VERSION, "Do the user's words read like speech, without markup, gaps or cuts?",
        "HammerBench 5", wording.check_wording,
    ),
    _check(
        "grounding", grounding.VERSION, "Is there evidence for every gold argument?",
        "HammerBench 4.2.1, 5", grounding.check_grounding, settles=_ARGUMENTS, is_left_to_readers=True,
    ),
    _check(
        "ambiguity", ambiguity.VERSION, "Is each gold value the last one said for its argument, and nothing said beside the gold?",
        "HammerBench 4.2.3", ambiguity.check_ambiguity, applies=ambiguity.applies_to,
        settles=_ARGUMENTS, is_left_to_readers=True,
    ),
    _check(
        "coverage", coverage.VERSION, "Is every word of the user's part of the call, and the call what is asked for?",
        "HammerBench 4.2.1", coverage.check_coverage, applies=coverage.applies_to,
        settles=_MEANING, is_left_to_readers=True,
    ),
    _check(
        "dialogue", dialogue.VERSION, "Does each snapshot follow from the turns before it?",
        "HammerBench 4.2.2, 4.2.3", dialogue.check_dialogue, applies=dialogue.applies_to,
        settles=_ARGUMENTS, is_left_to_readers=True,
    ),
    _check(
        "message", messages.VERSION, "Does a message come by the app, and from whom, the words speak of that point to it?",
        "HammerBench 4.2.4", messages.check_message, applies=messages.applies_to,
        settles=("message",), is_left_to_readers=True,
    ),
    _check(
        "path", path.VERSION, "Is each value where its evidence says, and no other path as short?",
        "ComplexFuncBench 2.1.2", path.check_path, applies=path.applies_to, settles=_ALL,
    ),
    _check(
        "routing", routing.VERSION, "Do the request and what tools return prove each call, and no other tool of the catalog?",
        "CallNavi 4.1", routing.check_routing, applies=routing.applies_to, settles=_ALL, is_left_to_readers=True,
    ),
    _check(
        "wishes", wishes.VERSION, "Do the user's words ask for just the calls that are made, where turns or calls are several?",
        "CONFETTI 3.1, CallNavi 4.1", wishes.check_wishes, applies=wishes.applies_to, settles=_ALL, is_left_to_readers=True,
    ),
    _check(
        "complexity", complexity.VERSION, "Is the complexity that the scenario requires really there?",
        "CONFETTI 3.1", complexity.check_complexity, applies=complexity.applies_to, settles=_MEANING,
    ),
    _check(
        "facts", facts.FACTS_VERSION, "Do results come back as recorded?",
        "CONFETTI 3.1", facts.check_facts, applies=facts.applies_to,
    ),
    _check(
        "replies", facts.REPLIES_VERSION, "Do replies state the results and nothing else, with the acts they are labelled by?",
        "CONFETTI 3.1", facts.check_replies, applies=facts.applies_to, settles=("replies",), is_left_to_readers=True,
    ),
    _check(
        "relevance", one_call.RELEVANCE_VERSION, "Where no call is due: can none of the candidates do it?",
        "HammerBench 4.2, D.5", one_call.check_relevance, applies=one_call.has_idle_turn,
        role="judge", prompts=("judge_relevance",), settles=_MEANING,
    ),
    _check(
        "consistency", one_call.CONSISTENCY_VERSION,
        "Does the checker make the gold call from the conversation alone, zero-shot and one-shot?",
        "HammerBench 4.2.1", one_call.check_consistency, applies=one_call.applies_to,
        role="checker", prompts=("call_zero_shot", "call_one_shot"), threshold="rouge_l", settles=_ALL,
    ),
    _check(
        "all_calls", several_calls.SET_VERSION,
        "Does the checker make all calls that are due at once, and no other, from the conversation alone?",
        "HammerBench 4.2.1", several_calls.check_all_calls, applies=several_calls.reads_a_set,
        role="checker", prompts=("call_each",), threshold="rouge_l", settles=_ALL,
    ),
    _check(
        "due_calls", several_calls.DUE_VERSION,
        "Does the checker make the calls that are due, step after step or in their order, from what was said and returned alone?",
        "HammerBench 4.2.1", several_calls.check_due_calls, applies=several_calls.reads_in_order,
        role="checker", prompts=("call_due", "call_plan"), threshold="rouge_l", settles=_ALL, settles_rest=True,
    ),
    _check(
        "meaning", one_call.MEANING_VERSION,
        "Does the judge read the same call out of the conversation, or one that means the same?",
        "HammerBench 4.2.1, D.4", one_call.check_meaning, applies=one_call.applies_to,
        role="judge", prompts=("call_zero_shot", "judge_calls"), settles=_ALL,
    ),
    _check(
        "due_meaning", several_calls.DUE_MEANING_VERSION,
        "Where several calls are due: does the judge read the same ones, or such as mean the same?",
        "HammerBench 4.2.1, D.4", several_calls.check_due_meaning, applies=several_calls.reads_several,
        role="judge", prompts=("call_each", "call_due", "call_plan", "judge_calls"), settles=_ALL, settles_rest=True,
    ),
    _check(
        "faithfulness", facts.FAITHFULNESS_VERSION,
        "Does the judge find the replies true to the results, and read the acts they are labelled by?",
        "CONFETTI 3.1", facts.check_faithfulness, applies=facts.applies_to,
        role="judge", prompts=("judge_reply", "judge_acts"), settles=("replies",), settles_rest=True,
    ),
    _check(
        "message_fit", messages.FIT_VERSION, "Can the message be the one that the user points to?",
        "HammerBench 4.2.4", messages.check_message_fit, applies=messages.applies_to,
        role="judge", prompts=("judge_message",), settles=("message",), settles_rest=True,
    ),
    _check(
        "natural", wording.NATURAL_VERSION,
        "Would a person say this to this assistant, and is each value plausible for its parameter?",
        "HammerBench 5", wording.check_natural, role="judge", prompts=("judge_natural",), needs_reader=True,
    ),
)  # fmt: skip


class SettledClaims(NamedTuple):
    """What a sample's claims rest on: `claimed` by the verdicts seen, of these settled by rules, and by models."""

    is_doubted: bool
    claimed: frozenset[SampleClaim]
    by_rules: frozenset[SampleClaim]
    by_models: frozenset[SampleClaim]

    @property
    def open(self) -> frozenset[SampleClaim]:
        """What nothing settles yet."""
        return self.claimed - self.by_rules - self.by_models

    @property
    def grade(self) -> ClaimGrade:
        """The weakest grade of its claims."""
        if self.is_doubted or self.open:
            return "open"
        return "proved" if self.by_rules >= self.claimed else "judged"


def settled_claims(verdicts: Iterable[Verdict]) -> SettledClaims:
    """What a sample rests on by the verdicts of these checks: the same that the view `sample_grades` says of what is kept."""
    checks = {stage.name: stage for stage in CHECKS}
    claimed: set[SampleClaim] = {*_ALL}
    by_rules: set[SampleClaim] = set()
    left_open: set[SampleClaim] = set()
    by_models: set[SampleClaim] = set()
    is_doubted = False
    for one in verdicts:
        check = checks[one.check]
        claimed.update(check.settles)
        is_doubted |= one.decision == "contradicted" or (one.decision == "unproved" and not check.is_left_to_readers)
        if one.grade == "proved":
            by_rules.update(check.settles)
        elif one.grade == "judged":
            by_models.update(check.settles)
        if one.grade != "proved" and check.role is None:
            left_open.update(check.settles)
    return SettledClaims(is_doubted, frozenset(claimed), frozenset(by_rules - left_open), frozenset(by_models))


async def has_rest(stage: Stage, sample: Sample, context: StageContext, verdicts: Sequence[Verdict]) -> bool:
    """Whether a stage has anything to say: one that `settles_rest` where it may settle what is left open, any other always.

    Where only people can settle something no model is asked. `verdicts` are those known of the sample; rules of which none
    is known are asked again, for they cost nothing.
    """
    if not stage.settles_rest:
        return True
    known = {one.check for one in verdicts}
    found = list(verdicts)
    for rule in CHECKS[: CHECKS.index(stage)]:
        if rule.name not in known and rule.role is None and rule.function is not None and rule.applies(sample):
            found += await rule.function(sample, context)
    settled = settled_claims(found)
    return not settled.is_doubted and bool(settled.open & set(stage.settles))


# It comes before anything is made of a scenario: what it does not prove is rejected.
SCENARIO_CHECK = Stage(
    "scenario", "conversational", "Does the goal want what its APIs do, and is the complexity possible with them?",
    "WordedScenario", "Verdict", "CONFETTI 3.1",
    scenario.check_scenario, "judge", ("validators/prompts/read_scenario.j2",), must_prove=True, version=scenario.VERSION,
)  # fmt: skip
