"""An answer as CallNavi reads it, and whether its calls and parameters are right (CallNavi 5.1).

A few characters are washed off, then it is JSON or it is not; placeholders take any value. Answers
of our own are asked for in JSON or YAML, and valid where they are so before any repair.
`summarise` is the paper's table over folders of questions and predictions: what share is right, by
difficulty and over all.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from statistics import fmean
from typing import Literal, NamedTuple

from pydantic import JsonValue
from rapidfuzz.distance.Levenshtein import normalized_similarity

from callwright.llm.written_calls import (
    LONGEST,
    ParsedReply,
    parse_lenient,
    parse_toolace,
    python_tree,
)
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.yaml_text import bounded_events, read_yaml

Notation = Literal["json", "yaml"]

NAMES = "API"  # what answers have the names of tools under
WITHOUT_NOTATION = ("native", "messages")  # the strategies that leave it to the provider
TOOLS_MARK = "/tools("  # in a strategy's label, before the name of changed tools
_WASHED = (("'", '"'), ("```json", ""), ("```", ""))
_FENCED = re.compile(
    r"^[ \t]*```(?:ya?ml)?[ \t]*\n(.*?)^[ \t]*```[ \t]*$", re.DOTALL | re.MULTILINE | re.IGNORECASE
)
_PARTS = "\f"  # stands between the replies of one answer; no model writes it
Answer = dict[str, JsonValue]
PARAMETERS = "parameters"
UNKNOWN = "$$$"
LONGEST_REPAIRED = 20_000  # ten times what the longest gold answer has
_TRIES = 16
_FENCE = re.compile(r"```[A-Za-z]*")
_TOKENS = re.compile(
    r""""(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[A-Za-z_]\w*|,\s*(?=[}\]])|.""", re.DOTALL
)
_WORDS = {"true": "True", "false": "False", "null": "None", "none": "None"}
_YAML_DATE = "tag:yaml.org,2002:timestamp"
_YAML = re.compile(rf"^{NAMES}\s*:", re.MULTILINE)
_QUOTING = str.maketrans("", "", "'\"[]\n `\\")
_KINDS = {
    dict: "an object",
    list: "a list",
    str: "a text",
    type(None): "null",
    bool: "a truth value",
}


def notation_of(label: str) -> Notation | None:
    """The notation of answers to a strategy of this label, None where it is the provider's."""
    label = label.rpartition(TOOLS_MARK)[0] or label  # changed tools are written as all tools are
    if label in WITHOUT_NOTATION:
        return None
    return "yaml" if label.endswith("/yaml") else "json"


def read_value(text: str, notation: Notation) -> JsonValue:
    """Return the value of a reply in the notation asked for, or None.

    JSON is read without its fences; an apostrophe inside a value does no harm.
    """
    if notation == "yaml":
        return YamlReply(text).value
    for written in (text.replace("```json", "").replace("```", ""), wash_text(text)):
        try:
            value: JsonValue = json.loads(written)
        except (ValueError, RecursionError):
            continue
        return value
    return None


def wash_text(text: str) -> str:
    """Return the text washed as in CallNavi's code: no fences, quotes for apostrophes."""
    for found, put in _WASHED:
        text = text.replace(found, put)
    return text


def is_valid(text: str, notation: Notation) -> bool:
    """Whether every reply in an answer has the notation asked for, before repair (CallNavi 5.1)."""
    if notation == "yaml":
        return all(YamlReply(part).has_structure for part in split_replies(text))
    return all(read_value(part, notation) is not None for part in split_replies(text))


def join_replies(texts: Sequence[str]) -> str:
    """Join the replies that make up one answer into one text."""
    return _PARTS.join(text.replace(_PARTS, " ") for text in texts)


def split_replies(text: str) -> list[str]:
    """Split a text into the replies that make up one answer."""
    return text.split(_PARTS)


class YamlReply:
    """A reply's YAML: its value, or the reason why there is none."""

    def __init__(self, text: str) -> None:
        """Read the fenced part of a text, or all of it if there is none."""
        # with pydantic and jsonschema behind them, which scoring a log of JSON replies has no need
        # of
        from callwright.generators.catalogs.catalog import Problem
        from callwright.generators.catalogs.documents import parse_yaml

        fenced = _FENCED.search(text)
        body = fenced[1] if fenced else text
        self.value: JsonValue = None
        self.problem = _forbidden(body)
        if not self.problem:
            read = parse_yaml(body, "the reply")
            if isinstance(read, Problem):
                self.problem = read.message[0].upper() + read.message[1:]
            else:
                self.value = read

    @property
    def has_structure(self) -> bool:
        """Whether it is YAML with a structure, not only text."""
        return not self.problem and isinstance(self.value, dict | list)


def _forbidden(body: str) -> str:
    """Return why a text must not be read (size, anchors, tags, bad YAML), "" if it may be."""
    import yaml

    if len(body) > LONGEST:
        return f"The reply has {len(body)} characters; up to {LONGEST} are read."
    try:
        for event in bounded_events(body):
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                return "The reply's YAML has an anchor or an alias; a call needs none."
            tag = getattr(event, "tag", None)
            if tag:
                return f"The reply's YAML has the tag {tag!r}; a call needs none."
    except yaml.YAMLError as error:
        return f"The reply is no YAML: {' '.join(str(error).split())}."
    return ""


class Washed(NamedTuple):
    """The content of an answer: `valid` as it came, `repaired` if only rules could read it.

    An unreadable answer has an empty object as value, and `problem` says why.
    """

    value: JsonValue
    valid: bool
    repaired: bool = False
    problem: str = ""

    @property
    def readable(self) -> bool:
        """Whether the answer is JSON, at once or after repair."""
        return self.valid or self.repaired


def wash(answer: object, *, repair: bool = True) -> Washed:
    """Read an answer, which is a text or a JSON value.

    Any JSON is valid; the published repair by a model is done here by rules.
    """
    if isinstance(answer, dict | list):
        return Washed(answer, valid=True)
    if not isinstance(answer, str):
        return Washed(
            {}, valid=False, problem=f"The prediction is {answer!r}, neither a text nor an object."
        )
    try:
        return Washed(json.loads(wash_text(answer)), valid=True)
    except (ValueError, RecursionError) as error:
        problem = f"The answer is not JSON: {error}."
    repaired = repair_answer(answer) if repair else None
    if repaired is None:
        return Washed({}, valid=False, problem=problem)
    return Washed(repaired, valid=False, repaired=True)


def repair_answer(text: str) -> Answer | None:
    """Return the names and parameters that a text means, or None."""
    if len(text) > LONGEST_REPAIRED:
        return None
    body = _FENCE.sub("", text)
    end = body.rfind("}") + 1
    for opener in islice(re.finditer(r"\{", body[:end]), _TRIES):
        stretch = body[opener.start() : end]
        for value in (_as_json(stretch), _as_python(stretch)):
            if isinstance(value, dict) and NAMES in value:
                return value
    return (
        _from_yaml(body)
        or _from_calls(parse_lenient(body))
        or _from_calls(parse_toolace(body.strip()))
    )


def _as_json(stretch: str) -> JsonValue:
    try:
        value, _ = json.JSONDecoder().raw_decode(stretch)
    except (ValueError, RecursionError):
        return None
    return value  # type: ignore[no-any-return] # the decoder's own type is Any


def _as_python(stretch: str) -> JsonValue:
    """Return the value in Python's or JavaScript's notation, None if it can't be read.

    A trailing comma or a note after the object does no harm.
    """
    written = _TOKENS.sub(_as_written, stretch)
    depth, end = 0, 0
    for token in _TOKENS.finditer(written):
        depth += {"{": 1, "}": -1}.get(token[0], 0)
        end = token.end()
        if not depth:  # its first brace closes
            break
    for text in dict.fromkeys((written, written[:end])):
        try:
            return _plain(ast.literal_eval(python_tree(text)))
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            continue
    return None


def _as_written(token: re.Match[str]) -> str:
    """Return a token in Python notation, without a comma before a closing bracket."""
    if token[0][0] == "," and token.string[token.end() : token.end() + 1] in {"}", "]"}:
        return ""
    return _WORDS.get(token[0], token[0])


def _plain(value: object) -> JsonValue:
    """Return the value as JSON. Raise ValueError if JSON has no equivalent."""
    if isinstance(value, list | tuple):
        return [_plain(member) for member in value]
    if isinstance(value, dict):
        return {str(name): _plain(member) for name, member in value.items()}
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise ValueError(f"{value!r} is nothing that JSON has.")


def _from_yaml(body: str) -> Answer | None:
    if not _YAML.search(body) or "&" in body:  # an alias may stand for any amount of text
        return None
    import yaml

    class PlainLoader(yaml.SafeLoader):  # a date stays the text that it is in JSON
        yaml_implicit_resolvers = {  # noqa: RUF012 - PyYAML's own way
            first: [(tag, pattern) for tag, pattern in known if tag != _YAML_DATE]
            for first, known in yaml.SafeLoader.yaml_implicit_resolvers.items()
        }

    try:
        plain = _plain(read_yaml(body, PlainLoader))
    except (yaml.YAMLError, ValueError):
        return None
    return plain if isinstance(plain, dict) else None


def _from_calls(reply: ParsedReply) -> Answer | None:
    if not reply.calls:
        return None
    return {
        NAMES: [call.tool for call in reply.calls],
        PARAMETERS: [call.arguments for call in reply.calls],
    }


class GoldAnswer(NamedTuple):
    """The calls of a question: their names, and the parameters of each."""

    names: list[str]
    parameters: list[dict[str, JsonValue]]


class AnswerMatch(NamedTuple):
    """The verdicts on an answer: same names in order, every parameter named, every value right.

    `problem` says what could not be read; such an answer is wrong in all three.
    """

    order: bool
    structure: bool
    ast: bool
    problem: str = ""


WRONG = AnswerMatch(order=False, structure=False, ast=False)


def match_answer(made: object, gold: GoldAnswer) -> AnswerMatch:
    """Compare an answer with the gold one, as the published code does where it does not crash.

    The order counts; parts that the gold answer does not name are ignored; a placeholder of the
    answer's own is a value like any other.
    """
    if not isinstance(made, dict):
        return WRONG._replace(problem=f"The answer is {_kind(made)}, not an object.")
    if NAMES not in made or PARAMETERS not in made:
        return WRONG._replace(problem=f"The answer lacks {NAMES!r} or {PARAMETERS!r}.")
    if made == {NAMES: gold.names, PARAMETERS: gold.parameters}:
        return AnswerMatch(order=True, structure=True, ast=True)
    if made[NAMES] != gold.names:
        return WRONG
    parameters = made[PARAMETERS]
    if not isinstance(parameters, list | dict | str):
        return WRONG._replace(problem=f"{PARAMETERS!r} is {_kind(parameters)}, not a list.")
    if len(parameters) != len(gold.parameters):
        return WRONG
    # as a dictionary it is only counted, not looked into
    if isinstance(parameters, dict) and any(gold.parameters):
        return WRONG._replace(problem=f"{PARAMETERS!r} is an object, not a list.")
    return _match_calls(list(parameters), gold.parameters)


def _match_calls(made: list[JsonValue], gold: list[dict[str, JsonValue]]) -> AnswerMatch:
    structure = ast = True
    for made_parameters, wanted in zip(made, gold, strict=True):
        if wanted and not isinstance(made_parameters, dict | list | str):
            return WRONG._replace(
                problem=f"The parameters of a call are {_kind(made_parameters)}, not an object."
            )
        for name, value in wanted.items():
            if name not in made_parameters:  # type: ignore[operator] # whatever has no members was refused above
                structure = ast = False
                break
            if value in (UNKNOWN, {}):
                continue
            if not isinstance(made_parameters, dict):
                return WRONG._replace(
                    problem=f"The parameters of a call are {_kind(made_parameters)}, not an object."
                )
            ast = ast and made_parameters[name] == value
    return AnswerMatch(order=True, structure=structure, ast=ast)


def _kind(value: object) -> str:
    return _KINDS.get(type(value), "a number")


def names_text(names: object) -> str:
    """Return names as published code compares them: no quotes, brackets, spaces or case.

    Commas stay.
    """
    return (names if isinstance(names, str) else str(names)).translate(_QUOTING).lower()


def is_routed(answer: object, gold: Sequence[str]) -> bool:
    """Whether the names are those of the question, in its order.

    `answer` is a router's answer, as a text or a list of names, or a whole answer with its names
    under "API".
    """
    named = answer.get(NAMES) if isinstance(answer, dict) else answer
    return isinstance(named, str | list) and names_text(named) == names_text(list(gold))


QUESTIONS = "Questions"
PREDICTED = ("predict", "predit")  # the published scripts write the one or the other
DIFFICULTIES = ("easy", "medium", "hard")


class GoldQuestion(NamedTuple):
    """A question and its gold answer."""

    id: str
    domain: str
    request: str
    gold: GoldAnswer
    difficulty: str


class CallNaviScore(NamedTuple):
    """All verdicts on one answer."""

    id: str
    difficulty: str
    washed: Washed
    routed: bool
    match: AnswerMatch

    @property
    def problem(self) -> str:
        """Why the answer could not be read, or "" if it could."""
        return self.washed.problem or self.match.problem


class Shares(NamedTuple):
    """The share of right questions, or a mean over them; None if there are no questions.

    `macro` is the mean over the difficulties; `counts` holds how many are right, or the sums
    behind the means.
    """

    easy: float | None
    medium: float | None
    hard: float | None
    overall: float | None
    macro: float | None
    counts: Mapping[str, float]


def score_answer(question: GoldQuestion, answer: object, *, repair: bool = True) -> CallNaviScore:
    """Score the answer to a question: a text, or a JSON value."""
    washed = wash(answer, repair=repair)
    says_calls = isinstance(washed.value, dict) and washed.readable
    return CallNaviScore(
        id=question.id,
        difficulty=question.difficulty,
        washed=washed,
        routed=is_routed(washed.value if says_calls else answer, question.gold.names),
        match=match_answer(washed.value, question.gold),
    )


def share_right(judged: Iterable[tuple[str, float]]) -> Shares:
    """Return the shares of these verdicts or scores, each with the difficulty of its question."""
    question_counts: Counter[str] = Counter()
    right: dict[str, float] = defaultdict(int)
    for difficulty, verdict in judged:
        question_counts[difficulty] += 1
        right[difficulty] += verdict
    shares = {
        name: right[name] / question_counts[name] for name in DIFFICULTIES if question_counts[name]
    }
    return Shares(
        easy=shares.get("easy"),
        medium=shares.get("medium"),
        hard=shares.get("hard"),
        overall=sum(right.values()) / question_counts.total() if question_counts else None,
        macro=fmean(shares.values()) if shares else None,
        counts={name: right[name] for name in dict.fromkeys((*DIFFICULTIES, *question_counts))},
    )


def summarise(scores: Sequence[CallNaviScore]) -> dict[str, Shares]:
    """Return CallNavi's figures by name.

    Syntax is judged before any repair; structure and AST after it.
    """
    verdicts = {
        "syntax_validity": [one.washed.valid for one in scores],
        "syntax_validity_repaired": [one.washed.readable for one in scores],
        "routing": [one.routed for one in scores],
        "order": [one.match.order for one in scores],
        "structure": [one.match.structure for one in scores],
        "ast": [one.match.ast for one in scores],
    }
    levels = [one.difficulty for one in scores]
    return {
        name: share_right(zip(levels, judged, strict=True)) for name, judged in verdicts.items()
    }


def summarise_stability(
    questions: Sequence[GoldQuestion], runs: Sequence[Sequence[object]]
) -> dict[str, Shares]:
    """Return how stable the answers of runs are; each has one to every question, in order."""
    levels = [question.difficulty for question in questions]
    scores = [
        measure_stability(
            [
                (
                    answer
                    if isinstance(answer, str)
                    else ""
                    if answer is None
                    else json.dumps(answer, ensure_ascii=False)
                )
                for answer in answers
            ]
        )
        for answers in zip(*runs, strict=True)
    ]
    return {
        f"{name}_stability": share_right(
            zip(levels, (getattr(score, name) for score in scores), strict=True)
        )
        for name in Stability._fields
    }


class Stability(NamedTuple):
    """Two scores in 0..1: by election (a majority counts) and by Levenshtein (nearness counts)."""

    election: float
    levenshtein: float


def measure_stability(answers: Sequence[str]) -> Stability:
    """Return how alike all runs' answers to a question are; one run is stable, none counts 0."""
    if not answers:
        return Stability(0.0, 0.0)
    texts = [settled(answer) for answer in answers]
    first, *later = texts
    # 1 - distance / the longer one's length
    near = [normalized_similarity(first, text) for text in later]
    # (F1 - F2) / (N - F2), F1 and F2 being how often the two most frequent answers came; a tie is 0
    second, most = sorted((0, *Counter(texts).values()))[-2:]
    return Stability(
        (most - second) / (len(texts) - second), sum(near) / len(near) if near else 1.0
    )


def settled(answer: str) -> str:
    """Return the answer without white space, case and surrounding backticks."""
    return "".join(answer.split()).lower().strip("`")


class PredictedQuestions(NamedTuple):
    """The questions with their predictions (None if missing), and what is odd about the files."""

    pairs: list[tuple[GoldQuestion, object]]
    problems: list[str]


def read_questions(folder: Path) -> list[GoldQuestion]:
    """Return the questions of all domains.

    Raises ConfigurationError if there are none, or if one has another form.
    """
    place = folder / QUESTIONS if (folder / QUESTIONS).is_dir() else folder
    files = sorted(place.glob("*.json"))
    if not files:
        raise ConfigurationError(f"There is no DOMAIN.json with questions in {str(place)!r}.")
    return [
        _question(row, file.stem, f"{file}#/{at}")
        for file in files
        for at, row in enumerate(_list(file, "questions"))
    ]


def read_answers(questions: Sequence[GoldQuestion], folder: Path) -> PredictedQuestions:
    """Return the prediction for each question: by id if the rows have ids, else by order.

    Raises ConfigurationError if no domain of the questions has a file, or a file is no list.
    """
    domains = list(dict.fromkeys(question.domain for question in questions))
    present = [domain for domain in domains if (folder / f"{domain}.json").is_file()]
    if not present:
        raise ConfigurationError(
            f"{str(folder)!r} has no predictions: a file DOMAIN.json is read for each of"
            f" {', '.join(domains)}."
        )
    pairs: list[tuple[GoldQuestion, object]] = []
    problems = [
        f"There is no file {d}.json: its questions count as wrong."
        for d in domains
        if d not in present
    ]
    for domain in domains:
        asked = [question for question in questions if question.domain == domain]
        rows = _list(folder / f"{domain}.json", "predictions") if domain in present else []
        predicted = _by_question(asked, rows, domain, problems)
        pairs += zip(asked, predicted, strict=True)
    return PredictedQuestions(pairs, problems)


def _by_question(
    asked: list[GoldQuestion], rows: list[JsonValue], domain: str, problems: list[str]
) -> list[object]:
    named = [row.get("id") for row in rows if isinstance(row, dict)]
    if len(named) == len(rows) and rows and all(isinstance(one, str) for one in named):
        twice = [str(one) for one, count in Counter(named).items() if count > 1]
        unknown = set(map(str, named)) - {question.id for question in asked}
        problems += [
            f"{domain}.json has more than one row with the id {one!r}; the first counts."
            for one in twice
        ]
        problems += [
            f"{domain}.json has a row for {one!r}, which is no question." for one in sorted(unknown)
        ]
        by_id = {str(name): row for name, row in zip(reversed(named), reversed(rows), strict=True)}
        question_rows = [by_id.get(question.id) for question in asked]
    else:
        question_rows = [*rows[: len(asked)], *[None] * (len(asked) - len(rows))]
        if rows and len(rows) != len(asked):
            problems.append(
                f"{domain}.json has {len(rows)} rows for {len(asked)} questions; they are taken in"
                " order."
            )
    return [
        (
            next((row[name] for name in PREDICTED if name in row), None)
            if isinstance(row, dict)
            else None
        )
        for row in question_rows
    ]


def _question(row: JsonValue, domain: str, where: str) -> GoldQuestion:
    match row:
        case {
            "id": str(name),
            "question": [*stated],
            "ground_truth": {"API": [*names], "parameters": [*parameters]},
            "difficulty": str(difficulty),
        }:
            request = " ".join(
                str(turn["content"])
                for turn in stated
                if isinstance(turn, dict) and "content" in turn
            )
            named = [one for one in names if isinstance(one, str)]
            given = [one for one in parameters if isinstance(one, dict)]
            if (len(named), len(given)) == (len(names), len(parameters)):
                return GoldQuestion(name, domain, request, GoldAnswer(named, given), difficulty)
    raise ConfigurationError(
        f'{where} is no question of CallNavi: it needs "id", "question", "ground_truth" with "API"'
        ' and "parameters", and "difficulty".'
    )


def _list(file: Path, what: str) -> list[JsonValue]:
    try:
        value = json.loads(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ConfigurationError(f"{file} can't be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"{file} is not valid JSON: {error}.") from error
    if not isinstance(value, list):
        raise ConfigurationError(f"{file} is no list of {what}.")
    return value
