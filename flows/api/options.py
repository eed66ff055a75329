"""The options of verbs that have several forms: a command, a Prefect flow, a Python function."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

from callwright.flows.options import Option, described
from callwright.validators.metrics.complexeval.rules import TURN_LIMIT

Live = Annotated[
    bool, Option(words="During a build, read its current state instead of the last published copy.")
]
OfKinds = Annotated[
    Sequence[str], Option((), "--kind", words="Only samples of this kind. Repeatable.")
]
OneModel = Annotated[str, Option(words="Use this model for all roles (a litellm name).")]
Again = Annotated[
    bool,
    Option(words="Also send questions that were sent before and are undecided, to a new server."),
]


@described
class BuildOptions(TypedDict, total=False):
    """What a build changes in its recipe.

    Args:
        limit: At most N samples of each kind. 0: as many as the recipe says.
        run: What this run of the recipe's schedule makes. 1: the recipe as it is.
    """

    limit: Annotated[int, Option(0, least=0)]
    run: Annotated[int, Option(1, least=1)]
    model: OneModel


@described
class EvaluationOptions(TypedDict, total=False):
    """How candidates are asked, and what is scored.

    Args:
        runs: How many times each candidate is asked.
        tools: Show changed tools: a file of changes, or a whole catalog such as an OpenAPI
            document. Answers are scored as usual, kept separately, and compared with the answers to
            the original tools.
        both: With --tools, also ask with the original tools where that was not done before.
        tools_shown: When candidates see every candidate tool: only at the first snapshot of a
            conversation (as in HammerBench's runs; later ones show the tool in question), or
            always. The two are kept separately.
        judge: A model that judges what rules cannot: whether different words in a call mean the
            same, how close plans come, which parameters a conversation supports, and how complete
            and correct final answers are.
        complexeval: Run multi-step samples as ComplexEval's paper describes, or as its code does.
        as_published: Count the single gold call of the papers alone. Otherwise any accepted answer
            counts: a question for a required parameter that is missing, a default said or left out,
            a list without order in any order, a tool that does the same.
        turns: The most replies that a candidate may give in a multi-step sample.
        strategy: How candidates are asked. direct: for the calls, in a prompt. native: with the
            provider's own tool calling. route_then_fill: for the tools first, then for the
            arguments with these tools only. backward: for the last call first, then for what must
            come before it. Each is kept separately.
        router: With route_then_fill, the model that chooses the tools. Default: the candidate
            itself.
        format: The notation of tools and answers.
        live: The model of a simulated user that holds some values back and answers the candidate's
            questions. Only tasks, multi-step samples and dialogues with slots are used. Kept
            separately.
        split: Only the samples of this split, such as test.
        timeout: How many seconds a Python function has for one answer.
        resume: Continue the last evaluation of the release, with its candidates and options.
        budget: Stop before this evaluation spends more than this many US dollars.
    """

    runs: Annotated[int, Option(1, least=1)]
    tools: Annotated[Path | str | Mapping[str, Any] | None, Option(metavar="FILE")]
    both: bool
    tools_shown: Annotated[Literal["first", "always"], Option("first")]
    judge: str
    complexeval: Annotated[Literal["as_paper", "as_published_code"], Option("as_paper")]
    as_published: bool
    turns: Annotated[int, Option(TURN_LIMIT, least=1)]
    strategy: Annotated[str, Option("direct")]
    router: str
    format: Annotated[Literal["json", "yaml"], Option("json")]
    live: Annotated[str, Option(metavar="MODEL")]
    split: str
    timeout: Annotated[float, Option(120.0, least=0.1)]
    resume: Annotated[bool, Option(flag="--resume/--no-resume")]
    budget: Annotated[float | None, Option(least=0)]


@described
class ReleaseOptions(TypedDict, total=False):
    """What a release takes, and how it is split and named.

    Args:
        recipes: Only samples of this recipe. Repeatable.
        builds: Take this build instead of the newest, by the beginning of its key. Repeatable.
        languages: Only samples in this language. Repeatable.
        where: Only samples for which this SQL condition on accepted_samples holds.
        splits: Splits and their shares, such as train=0.8,validation=0.1,test=0.1.
        by: What two splits never share. relatives: a parent, goal or template. tool: these, and
            tools.
        version: The semantic version. Default: the next one after the release that it follows.
        follows: The release that this one follows. Default: the newest with the same recipes and
            filters.
        note: A note to keep with the release.
    """

    recipes: Annotated[Sequence[str], Option(flag="--recipe")]
    builds: Annotated[Sequence[str], Option(flag="--build")]
    kinds: OfKinds
    languages: Annotated[Sequence[str], Option(flag="--language")]
    where: str
    splits: Annotated[str | Mapping[str, float], Option("", metavar="NAME=SHARE,...")]
    by: Annotated[Literal["relatives", "tool"], Option("relatives")]
    version: str
    follows: str
    note: str
    live: Live


@described
class ExportOptions(TypedDict, total=False):
    """What of a release is written, and in whose words.

    Args:
        with_template: Also export samples that template/v1 worded to formats for training.
        from_answers: Use this candidate's answers from evaluations: right ones in place of the gold
            (openai, sharegpt, trl), wrong ones beside right ones (trl-dpo, trl-kto), or pass rates
            (nemo-gym, trl-grpo). Repeatable.
        pass_rate: Only samples that these candidates pass in this share of their runs, such as
            0.2:0.8.
        system_messages: Whether training rows without a system message get a default one.
        one_call_at_a_time: Write parallel calls one after another, each with its result, for chat
            templates that take one call a message (atif, hf, openai, sharegpt, trl, trl-grpo).
    """

    kinds: OfKinds
    with_template: bool
    from_answers: Annotated[Sequence[str], Option(metavar="NAME or NAME~STRATEGY")]
    pass_rate: Annotated[str, Option(metavar="LOW:HIGH")]
    system_messages: Annotated[bool, Option(default=True)]
    one_call_at_a_time: bool


@described
class DataAuditOptions(TypedDict, total=False):
    """Which data are audited, by whom, and when that fails.

    Args:
        format: The format of the files: bfcl, openai, hammerbench or another one of
            docs/sources.md. Default: the one that reads the first records.
        release: Audit this release instead of files.
        records: Audit a file that `export --to records` wrote instead.
        name: A name for the audit.
        model: A model that writes each call without knowing the gold. Repeatable.
        replies: A folder with a folder of published result files for each model: what strong ones
            answer alike and otherwise than the gold is a finding. Repeatable.
        fail_on: Fail if there is a finding of this severity or a graver one that nobody refused.
        limit: Audit only so many records. 0: all.
        again: Audit anew what was audited before.
    """

    format: Annotated[str, Option(metavar="FORMAT")]
    release: str
    records: Annotated[Path | str | None, Option(metavar="FILE")]
    name: str
    model: Sequence[str]
    replies: Annotated[Sequence[Path], Option(metavar="FOLDER")]
    fail_on: Annotated[Literal["error", "warning", "note", "never"], Option("error")]
    limit: Annotated[int, Option(0, least=0)]
    again: bool
