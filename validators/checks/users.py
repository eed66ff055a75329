"""Whether a simulated user says what it has to say, read by other rules than those that let its words pass."""

from dataclasses import replace

from callwright.generators.kinds import traits_of
from callwright.generators.stages import StageContext
from callwright.generators.users.facts import facts_of
from callwright.generators.users.user import Answer as UserAnswer
from callwright.generators.users.user import Said
from callwright.validators.checks.declaring import rule
from callwright.validators.checks.verdicts import Answer, answer_of, unproved
from callwright.validators.user_errors import is_amiss
from callwright.warehouse.records import DoubtedFact, ReplyTurn, Sample, UserTurn


@rule(
    "user", "1", "Do the user's answers say what they are to say?",
    source="τ-bench",
    applies=lambda sample: traits_of(sample.kind).is_live,
    doubts={"user_amiss": "The user's words{where} don't say {name} = {value}, or say something else."},
)  # fmt: skip
def check_user(sample: Sample, context: StageContext) -> Answer:
    """Read each answer of a live conversation anew; the score is the share of answers that are borne out."""
    tools = context.toolset(sample.candidates)
    named, turns = {tool.name: tool for tool in tools}, sample.turns
    findings, wrong = [], set[int]()
    for fact in facts_of(sample, tools):
        words, before = turns[fact.turn], turns[fact.turn - 1]
        if fact.turn == 0 or not isinstance(words, UserTurn):
            continue
        question = before.text if isinstance(before, ReplyTurn) else ""
        said = Said(words.text, UserAnswer("tell", (fact,)), question)
        if is_amiss(fact, said, sample.language, named[fact.tool]):
            wrong.add(fact.turn)
            told = DoubtedFact(kind="user_amiss", turn=fact.turn, argument=fact.parameter, value=fact.value)
            findings.append(unproved(f"At turn {fact.turn} {fact.parameter} = {fact.value!r} is not said.", told))
    answers = sum(isinstance(turn, UserTurn) for turn in turns) - 1
    answer = answer_of(findings, f"The user says what it has to say ({answers} of {answers} answers).")
    return replace(answer, score=1 - len(wrong) / max(1, answers))
