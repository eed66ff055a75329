"""Draft a file of sentences for a catalog's tools: by a model, or a skeleton to fill in."""

import asyncio
import re
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import orjson

from callwright.flows.progress import Progress
from callwright.flows.recipe import RecipeProblem
from callwright.flows.recipe.own_sentences import check_sentences, language_in
from callwright.flows.run.work import task_group, with_secret
from callwright.flows.settings import Settings, named_secret
from callwright.generators.sentences.drafting import (
    STAGE,
    SentenceDraft,
    draft_sentences,
    mend_sentences,
    sentence_prompt,
)
from callwright.language.calls.tools import view_of
from callwright.language.names import humanise
from callwright.language.packs import known, of, signs
from callwright.language.schemas import json_type
from callwright.llm.chat import ChatModel
from callwright.llm.ledger import Ledger
from callwright.llm.limits import Budget
from callwright.llm.models import Readiness, check_key, open_chat, read_model, reads_language
from callwright.llm.tool_sentences import SentenceFile, opener_of
from callwright.warehouse.errors import ConfigurationError, ReplyError
from callwright.warehouse.records import Language, LlmCall, Tool

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")
_WORDS_OF_YAML = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})
_SIGNS = re.compile(r"[\\()\[\]{}<>|;*]+")
_AT_ONCE = 16
Entry = Mapping[str, object]  # what a file says of a tool: requests, says, questions


class LeftOutTool(NamedTuple):
    """A tool that a draft has no sentences for, and why."""

    tool: str
    reason: str


class DraftedFile(NamedTuple):
    """A drafted file: its text, the number of tools it covers, and the model's calls and cost."""

    text: str
    tools: int
    written: int
    left_out: tuple[LeftOutTool, ...]
    calls: int = 0
    cost: float = 0.0


def file_for(catalog: str, language: Language, out: Path | None) -> Path:
    """Return the path for a draft.

    Raises ConfigurationError for an unknown language, a name with another one, or a file there.
    """
    if language not in known():
        raise ConfigurationError(
            f"template/v1 has no words of its own in {language!r}. It has {', '.join(known())}."
        )
    path = out or Path(f"{catalog}.{language}.yaml")
    if language_in(path) != language:
        raise ConfigurationError(
            f"The name {str(path)!r} must say the language of the sentences:"
            f" {catalog}.{language}.yaml"
        )
    if path.exists():
        problem = f"{str(path)!r} exists already. Move it away, or name another file with --out."
        raise ConfigurationError(problem)
    return path


def write_draft(drafted: DraftedFile, path: Path) -> None:
    """Write a draft to its file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(drafted.text, encoding="utf-8")


def draft_skeleton(
    tools: Sequence[Tool], language: Language, path: Path, catalog: str
) -> DraftedFile:
    """Return a file with a sentence per tool, made from the names in the tool's document."""
    entries = {tool.name: _skeleton(tool) for tool in tools}
    skeleton_note = (
        "This is a skeleton: what the document calls tools and parameters. Write what people say in"
        " the place of it."
    )
    return written_draft(
        tools, entries, {}, language, _head(catalog, language, path, skeleton_note)
    )


async def draft_by_model(  # noqa: PLR0913, PLR0917 - what is drafted, where it goes, and by whom
    tools: Sequence[Tool],
    language: Language,
    path: Path,
    catalog: str,
    model: str,
    settings: Settings,
    progress: Progress,
) -> DraftedFile:
    """Return a file with a model's sentences for each tool.

    Unusable sentences are asked for once more, and then left out. Raises ConfigurationError for
    a model that cannot draft.
    """
    named = read_model(model)
    if not reads_language(model):
        raise ConfigurationError(
            f"{model} can't draft sentences. Name a language model with --model, or leave it out"
            " for a skeleton."
        )
    check_key(named, named_secret)
    chosen, calls = with_secret(named), list[LlmCall]()
    async with Ledger(settings.ledger) as ledger:
        ready = Readiness([chosen]).check
        chat = open_chat(
            chosen, ledger=ledger, budget=Budget(None), record=calls.append, ready=ready
        )
        try:
            entries, reasons = await draft_entries(tools, language, chat.for_stage(STAGE), progress)
        finally:
            await chat.close()
    said = f"Drafted by {model}. Read it before you use it."
    drafted = written_draft(tools, entries, reasons, language, _head(catalog, language, path, said))
    return drafted._replace(
        calls=sum(not one.cached for one in calls), cost=sum(one.cost for one in calls)
    )


async def draft_entries(
    tools: Sequence[Tool], language: Language, chat: ChatModel, progress: Progress
) -> tuple[dict[str, Entry], dict[str, str]]:
    """Return a model's drafts by tool, in file form, and the reasons for tools without any."""
    prompts = {
        tool.name: sentence_prompt(tool, tools, language, opener_of(language)) for tool in tools
    }
    reasons: dict[str, str] = {}
    drafts: dict[str, SentenceDraft] = {}

    async def first(name: str) -> None:
        drafts[name] = await draft_sentences(prompts[name], chat)

    async def again(name: str) -> None:
        drafts[name] = await mend_sentences(prompts[name], drafts[name], wrong[name], chat)

    by_name = {tool.name: tool for tool in tools}
    await _each(list(prompts), first, reasons, progress, "Drafting sentences")
    entries = {name: _entry(draft, by_name[name]) for name, draft in _in_order(drafts, tools)}
    wrong = _problems(entries, tools, language)
    if wrong:
        await _each(list(wrong), again, reasons, progress, "Asking again")
        entries = {name: _entry(draft, by_name[name]) for name, draft in _in_order(drafts, tools)}
    return entries, reasons


def _in_order(
    drafts: Mapping[str, SentenceDraft], tools: Sequence[Tool]
) -> Iterator[tuple[str, SentenceDraft]]:
    yield from (
        (name, drafts[name])
        for name in dict.fromkeys(tool.name for tool in tools)
        if name in drafts
    )


async def _each(
    names: Sequence[str],
    work: Callable[[str], Awaitable[None]],
    reasons: dict[str, str],
    progress: Progress,
    title: str,
) -> None:
    """Run `work` for each tool, several at once; an unusable reply becomes a reason."""
    progress.begin(title, len(names))
    places = asyncio.Semaphore(_AT_ONCE)

    async def one(name: str) -> None:
        async with places:
            try:
                await work(name)
            except ReplyError as error:
                reasons[name] = str(error)
            progress.advance(1)

    async with task_group() as group:
        for name in names:
            group.create_task(one(name))


def _entry(draft: SentenceDraft, tool: Tool) -> Entry:
    """Return the entry of a file for a model's draft."""
    says: dict[str, dict[object, str]] = defaultdict(dict)
    for said_value in draft.says:
        is_flag = json_type(tool.properties.get(said_value.parameter, {})) == "boolean"
        value: object = said_value.value
        if is_flag and said_value.value.lower() in ("true", "false"):
            value = said_value.value.lower() == "true"
        says[said_value.parameter][value] = said_value.words
    questions: dict[str, list[str]] = defaultdict(list)
    for asked in draft.questions:
        questions[asked.parameter].append(asked.question)
    parts = {
        "requests": [*dict.fromkeys(draft.requests)],
        "says": dict(says),
        "questions": dict(questions),
    }
    return {name: part for name, part in parts.items() if part}


def _skeleton(tool: Tool) -> Entry:
    view, flags = view_of(tool.sayable), dict[str, dict[object, str]]()
    parts = [_cleaned(view.title)]
    for parameter in view.parameters:
        called = _cleaned(str(parameter.schema.get("title") or _words_of(parameter.name)))
        is_flag = json_type(parameter.schema) == "boolean"
        parts.append(
            f"[, {{{parameter.name}}}]" if is_flag else f"[, {called} {{{parameter.name}}}]"
        )
        if is_flag:
            flags[parameter.name] = {True: f"with {called}", False: f"without {called}"}
    entry: dict[str, object] = {"requests": [" ".join((parts[0], *parts[1:])).replace(" [,", "[,")]}
    return entry | ({"says": flags} if flags else {})


def _words_of(name: str) -> str:
    """Return a parameter's name as words; an all-lower-case name is split only at its joints."""
    return " ".join(re.split(r"[_\-.\s]+", name)) if name.islower() else humanise(name)


def _cleaned(words: str) -> str:
    """Return words without the signs that mean something in a sentence, and without a final one."""
    return " ".join(_SIGNS.sub(" ", words).split()).rstrip("".join(signs(".!?{.!?}")))


def _problems(
    entries: Mapping[str, Entry], tools: Sequence[Tool], language: Language
) -> dict[str, list[str]]:
    problems_by_tool: dict[str, list[str]] = defaultdict(list)
    for name, one in _found(entries, tools, language):
        problems_by_tool[name].append(
            f"{one.place}: {one.message}{f' (did you mean {one.meant}?)' if one.meant else ''}"
        )
    return problems_by_tool


def _found(
    entries: Mapping[str, Entry], tools: Sequence[Tool], language: Language
) -> Iterator[tuple[str, RecipeProblem]]:
    spans: list[tuple[int, str]] = []
    lines: list[str] = []
    for name, entry in entries.items():
        spans.append((len(lines) + 1, name))
        lines += _lines(name, entry)
    if not lines:
        return
    file = SentenceFile(file="the draft", language=language, text="\n".join(lines) + "\n")
    for problem in check_sentences([file], tools):
        yield (
            max((start, name) for start, name in spans if start <= max(problem.line, 1))[1],
            problem,
        )


def written_draft(
    tools: Sequence[Tool],
    entries: Mapping[str, Entry],
    reasons: Mapping[str, str],
    language: Language,
    head: Iterable[str],
) -> DraftedFile:
    """Return the file of a draft; unusable entries become comments with the reason."""
    wrong = _problems(entries, tools, language)
    why = {**reasons, **{name: " ".join(problems) for name, problems in wrong.items()}}
    lines, left_out = [*head], list[LeftOutTool]()
    for name in dict.fromkeys(tool.name for tool in tools):
        if name in entries and name not in wrong:
            lines += _lines(name, entries[name])
            continue
        reason = " ".join(why.get(name, "Nothing was drafted.").split())
        left_out.append(LeftOutTool(name, reason))
        lines += [
            f"# {name} was left out: {reason}",
            *(f"#   {one}" for one in _lines(name, entries.get(name, {}))),
        ]
    names = {tool.name for tool in tools}
    return DraftedFile(
        "\n".join(lines) + "\n", len(names), len(names) - len(left_out), tuple(left_out)
    )


def _head(catalog: str, language: Language, path: Path, said: str) -> Iterator[str]:
    """Yield the lines at the head of a file."""
    yield f"# What people say in {of(language).name} to the tools of the catalog {catalog}."
    yield f"# {said}"
    yield (
        "# {name} is the value of a parameter, [part] may be missing, (one|other) is one of these,"
        " guest[s] a plural."
    )
    yield (
        "# The first sentence of a tool can say any of its parameters, each in brackets; the others"
        " may say less. A sentence"
    )
    yield (
        f'# without a mark at its end goes on after words such as "{opener_of(language)}"; one with'
        " a mark stands alone."
    )
    yield (
        "# `says` has the words for flags and choices, `questions` how an assistant asks for a"
        " parameter."
    )
    yield f"# Check it: callwright tools check {catalog} --sentences {path}"
    yield f"# Use it in a recipe, under tools: {{catalog: {catalog}, sentences: {path.name}}}"


def _lines(name: str, entry: Entry) -> list[str]:
    """Return a tool's entry as lines of YAML."""
    lines = [f"{_key(name)}:"]
    for part, part_value in entry.items():
        lines.append(f"  {part}:")
        if isinstance(part_value, Mapping):
            for parameter, inner in part_value.items():
                lines.append(f"    {_key(parameter)}: {_inline(inner)}")
        elif isinstance(part_value, Sequence):
            lines += [f"    - {_quoted(one)}" for one in part_value]
    return lines


def _inline(held: object) -> str:
    if isinstance(held, Mapping):
        return f"{{{', '.join(f'{_key(name)}: {_quoted(one)}' for name, one in held.items())}}}"
    return f"[{', '.join(map(_quoted, held))}]" if isinstance(held, Sequence) else _quoted(held)


def _key(name: object) -> str:
    if isinstance(name, bool):
        return str(name).lower()
    text = str(name)
    return (
        text if _PLAIN_KEY.fullmatch(text) and text.lower() not in _WORDS_OF_YAML else _quoted(text)
    )


def _quoted(text: object) -> str:
    return orjson.dumps(text).decode()
