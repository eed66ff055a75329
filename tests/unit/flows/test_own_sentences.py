"""Sentences that a recipe brings are held against its tools: every mistake of a file is told at
once, with its line.
"""

from pathlib import Path

import pytest

from callwright.flows.recipe import Recipe, read_recipe, read_recipe_file
from callwright.flows.recipe.own_sentences import (
    LONGEST,
    MOST_BYTES,
    check_sentences,
    told_of_sentences,
    with_checked_sentences,
)
from callwright.flows.run.work import roles_of
from callwright.llm.tool_sentences import SentenceFile
from callwright.warehouse.records import Tool


def tool(name: str, /, **properties: object) -> Tool:
    parameters = {"type": "object", "properties": properties}
    return Tool(name=name, description=f"{name}.", category="Gym", parameters=parameters)


BOOK = tool(
    "book",
    course={"enum": ["yoga", "boxing"]},
    day={"type": "string"},
    towel={"type": "boolean"},
    page={"type": "integer"},
).with_changes(plumbing=("page",))
FIND = tool("find", surname={"type": "string"})
RENT = tool("rent", months={"type": "integer"}, size={"type": "string"})
TOOLS = (BOOK, FIND, RENT)
GOOD = """book:
  requests:
    - "book a place [in {course}] [on {day}] [{towel}]"
    - "I'd like to join {course} on {day}."
  says: {towel: {true: with a towel, false: without a towel}}
  questions: {day: ["On which day?"]}
  answers: {day: ["on {day}"]}
find:
  requests: ["look up a member [called {surname}]"]
rent:
  requests: ["rent a [{size}] locker [for {months} month[s]]"]
"""


def sentences(text: str, name: str = "gym.en.yaml") -> SentenceFile:
    return SentenceFile(file=name, language=name.split(".")[1], text=text)


def mistakes(text: str, *others: SentenceFile) -> list[str]:
    return [str(one) for one in check_sentences([sentences(text), *others], TOOLS)]


def changed(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new)


def test_a_file_that_fits_its_tools_has_no_mistakes() -> None:
    assert mistakes(GOOD) == []


TRIP = tool(
    "plan",
    van={"type": "string"},
    legs={"type": "array", "items": {"type": "object", "properties": {"to": {}}}},
)
VAN, BIKE = tool("get_van", van={"type": "string"}), tool("get_bike", bike={"type": "string"})
IN_STEPS = """plan:
  noun: "trip [in {van}]"
  called: by the name of
  parts: {legs: "to {to}"}
  requests: ["plan a trip [in {van}] [: {legs}]"]
get_van:
  things: {van: van}
  facts: ["tell me the {fields_} of {van}"]
  requests: ["show me [{van}]"]
get_bike:
  things: {bike: bike}
  facts: ["tell me the {fields_} of {bike}"]
  requests: ["show me the entry of [{bike}]"]
"""
WRONG_IN_STEPS = {
    "no fields": (
        "{fields_} of {van}",
        "age of {van}",
        "8:11: get_van.facts[0]: a sentence that asks for facts must contain {fields_}.",
    ),
    "a noun": (
        "trip [in {van}]",
        "trip [in {car}]",
        "2:9: plan.noun: plan has no parameter 'car'. The parameters are van, legs.",
    ),
    "a noun that is none": (
        "trip [in {van}]",
        "trip [in",
        "2:9: plan.noun: The sentence 'trip [in' can't be read: the brackets",
    ),
    "a part": (
        "to {to}",
        "to {too}",
        "4:17: plan.parts.legs: the entries of legs have no field 'too'; did you mean to?",
    ),
    "a thing": (
        "{bike: bike}",
        "{bike: 3}",
        "11:18: get_bike.things.bike: must be text of 1 to 500 characters.",
    ),
    "words before a name": (
        "by the name of",
        "''",
        "3:11: plan.called: must be text of 1 to 500 characters.",
    ),
}


def mistakes_in_steps(text: str) -> list[str]:
    return [str(one) for one in check_sentences([sentences(text)], (TRIP, VAN, BIKE))]


@pytest.mark.parametrize(("old", "new", "message"), WRONG_IN_STEPS.values(), ids=WRONG_IN_STEPS)
def test_a_mistake_in_it_is_told_with_its_line(old: str, new: str, message: str) -> None:
    assert old in IN_STEPS
    told = mistakes_in_steps(IN_STEPS.replace(old, new))
    assert any(one.startswith(f"gym.en.yaml:{message}") for one in told), told


WRONG = {
    "an unknown tool": ("find:", "fnd:", "8:1: fnd: there is no tool 'fnd'; did you mean find?"),
    "an unknown slot": (
        "join {course}",
        "join {cours}",
        (
            "4:7: book.requests[1]: book has no parameter 'cours'; did you mean course? The"
            " parameters are course, day, towel."
        ),
    ),
    "a technical parameter in a slot": (
        "join {course}",
        "join {page}",
        (
            "4:7: book.requests[1]: book has no parameter 'page'. The parameters are course, day,"
            " towel."
        ),
    ),
    "a parameter that no sentence says": (
        "[for {months} month[s]]",
        "",
        (
            "11:14: rent.requests[0]: the first sentence must have a place for each parameter;"
            " it lacks [… {months}]; if no request mentions it, mark it under tools: plumbing:"
            " {months: true}."
        ),
    ),
    "a first sentence that can't leave a parameter out": (
        "[called {surname}]",
        "called {surname}",
        (
            "9:14: find.requests[0]: the first sentence must be able to say each parameter alone,"
            " so put each in brackets of its own; it can't be said without surname."
        ),
    ),
    "a first sentence of nothing but a parameter": (
        "look up a member [called {surname}]",
        "[look up {surname}]",
        (
            "9:14: find.requests[0]: the first sentence must be able to say each parameter alone,"
            " so put each in brackets of its own; it can't be said without surname."
        ),
    ),
    "a slot that stands in another one's part": (
        "[in {course}] [on {day}]",
        "[in {course} [on {day}]]",
        (
            "3:7: book.requests[0]: the first sentence must be able to say each parameter alone,"
            " so put each in brackets of its own; it can't say day without course, towel."
        ),
    ),
    "no requests": (
        'requests: ["look up a member [called {surname}]"]',
        "questions: {}",
        (
            '8:1: find.requests: is missing; list the sentences that people say, such as ["book [a table at'
            ' {restaurant}]"].'
        ),
    ),
    "requests that are no list": (
        '["look up a member [called {surname}]"]',
        "look up",
        (
            '9:13: find.requests: must be a list; list the sentences that people say, such as ["book [a table'
            ' at {restaurant}]"].'
        ),
    ),
    "a sentence that can't be parsed": (
        "[called {surname}]",
        "[called {surname}",
        (
            "9:14: find.requests[0]: The sentence 'look up a member [called {surname}' can't be"
            " read: the brackets (), [] and {} do not match."
        ),
    ),
    "an empty sentence": (
        "I'd like to join {course} on {day}.",
        "",
        (
            "4:7: book.requests[1]: The sentence '' can't be read: a sentence, a slot or a part in"
            " brackets is empty."
        ),
    ),
    "a rule of hassil": (
        "I'd like to join {course} on {day}.",
        "<join> {course}.",
        ("4:7: book.requests[1]: rules in <…> are not supported; write a parameter as {…}."),
    ),
    "a colon in a slot": (
        "join {course}",
        "join {course:of}",
        "4:7: book.requests[1]: braces may hold only the name of a parameter, without a colon.",
    ),
    "a semicolon": (
        "I'd like to join {course} on {day}.",
        "Join; {course}.",
        (
            "4:7: book.requests[1]: a sentence can't contain a semicolon; use a comma, or"
            " write two sentences."
        ),
    ),
    "a slot twice": (
        "join {course} on {day}",
        "join {day} on {day}",
        "4:7: book.requests[1]: {day} occurs twice.",
    ),
    "a sentence twice": (
        "I'd like to join {course} on {day}.",
        "book a place [in {course}] [on {day}] [{towel}]",
        "4:7: book.requests[1]: repeats the sentence in line 3.",
    ),
    "a number in place of a sentence": (
        '"I\'d like to join {course} on {day}."',
        "12",
        "4:7: book.requests[1]: must be text, not 12; put it in quotation marks.",
    ),
    "a sentence that is too long": (
        "I'd like to join {course} on {day}.",
        "x" * (LONGEST + 1),
        "4:7: book.requests[1]: a sentence may have at most 500 characters; this one has 501.",
    ),
    "a flag without words": (
        "  says: {towel: {true: with a towel, false: without a towel}}\n",
        "",
        "1:1: book: `says` needs words for the flag towel: {towel: {true: …, false: …}}.",
    ),
    "words for one value of a flag alone": (
        ", false: without a towel",
        "",
        "5:10: book.says.towel: has no words for false.",
    ),
    "words for a value that there is not": (
        "says: {",
        "says: {course: {yoga: yoga, boxin: boxing, boxing: to box}, ",
        (
            "5:31: book.says.course.boxin: course has no value 'boxin'; did you mean boxing? The"
            " values are yoga, boxing."
        ),
    ),
    "the same words for two values": (
        "without a towel",
        "With a towel",
        "5:45: book.says.towel.false: the same words stand for true.",
    ),
    "words for a parameter without choices": (
        "says: {",
        "says: {day: {x: y}, ",
        ("5:10: book.says.day: day is neither a choice nor a flag, so its values need no words."),
    ),
    "words for an unknown parameter": (
        "says: {",
        "says: {towl: {x: y}, ",
        (
            "5:10: book.says.towl: book has no parameter 'towl'; did you mean towel? The parameters"
            " are course, day, towel."
        ),
    ),
    "a question that is no list": (
        '["On which day?"]',
        "When",
        "6:20: book.questions.day: must be a list of questions.",
    ),
    "one question for two parameters": (
        '{day: ["On which day?"]}',
        "{day: [When], course: [When]}",
        "6:37: book.questions.course[0]: the same question already asks for day.",
    ),
    "an answer without its value": (
        '["on {day}"]',
        '["that day"]',
        "7:19: book.answers.day[0]: an answer must contain its value, {day}.",
    ),
    "a misspelt part": (
        "questions:",
        "question:",
        (
            "6:3: book.question: there is no such setting; did you mean questions? The settings of"
            " a tool are requests, says, questions, answers, noun, called, things, facts, parts."
        ),
    ),
    "a tool twice": ("find:", "rent:", "10:1: rent: occurs twice, first in line 8."),
    "a tool that is no mapping": (
        'find:\n  requests: ["look up a member [called {surname}]"]',
        "find: 3",
        (
            "8:7: find: must be a mapping with `requests` and, optionally, `says`,"
            " `questions` and `answers`."
        ),
    ),
    "two tools with the same sentence": (
        "look up a member [called {surname}]",
        "rent a locker[ for {surname}].",
        "11:14: rent.requests[0]: it reads the same as a sentence of find in line 9.",
    ),
    "an alias": (
        "find:",
        "find: &x\nlost: *x\nfound:",
        "9:7: is not valid YAML: aliases are not allowed; write out what this one stands for.",
    ),
    "no YAML": (
        "find:",
        "find: [",
        "10:1: is not valid YAML: while parsing a flow sequence, did not find expected ',' or ']'.",
    ),
}


@pytest.mark.parametrize(("old", "new", "message"), WRONG.values(), ids=WRONG)
def test_a_mistake_is_told_with_its_line(old: str, new: str, message: str) -> None:
    assert f"gym.en.yaml:{message}" in mistakes(changed(old, new))


def test_all_mistakes_are_told_at_once_in_the_order_of_the_lines() -> None:
    text = (
        changed("join {course}", "join {cours}")
        .replace("find:", "fnd:")
        .replace("[for {months} month[s]]", "")
    )
    assert [int(one.split(":")[1]) for one in mistakes(text)] == [4, 8, 11]


@pytest.mark.parametrize("text", ["", "# nothing\n", "- a\n", "12\n", "{}\n"])
def test_what_holds_no_sentences_by_tool_is_one_mistake(text: str) -> None:
    assert mistakes(text) == [
        "gym.en.yaml:1:1: must be a mapping from tools to sentences, such as `get_weather: {requests: [...]}`."
    ]


@pytest.mark.parametrize(
    "text",
    ["[" * 5000, "\x00", "? [a]\n: 3\n", "a: !!python/object:os.system {}\n", "a: 2001-99-99\n"],
)
def test_what_no_yaml_is_gives_one_mistake(text: str) -> None:
    assert len(mistakes(text)) >= 1
    assert all("\n" not in one for one in mistakes(text))


def test_two_files_may_not_have_sentences_for_one_tool_in_one_language() -> None:
    more = sentences('find:\n  requests: ["who is [{surname}]"]\n', "more.en.yaml")
    assert mistakes(GOOD, more) == [
        "more.en.yaml:1:1: find: this tool already has sentences in gym.en.yaml:8."
    ]
    spanish = sentences(
        'find:\n  requests: ["buscar a un socio [llamado {surname}]"]\n', "gym.es.yaml"
    )
    assert mistakes(GOOD, spanish) == []
    same = sentences(
        'rent:\n  requests: ["look up a member [called {months}] [{size}]"]\n', "more.en.yaml"
    )
    without = GOOD[: GOOD.index("rent:")]
    assert mistakes(without, same) == [
        "more.en.yaml:2:14: rent.requests[0]: it reads the same as a sentence of find in"
        " gym.en.yaml:9."
    ]


def test_of_two_tools_with_one_name_the_one_that_fits_is_meant() -> None:
    other = tool("find", surname={"type": "string"}, street={"type": "string"})
    assert check_sentences([sentences(GOOD)], [*TOOLS, other]) == ()
    recipe = Recipe.model_validate(
        {"name": "x", "tools": [{"seed": "all"}], "samples": {"perfect": 1}}
    )
    recipe = recipe.model_copy(update={"sentence_files": (sentences(GOOD),)})
    [said] = told_of_sentences(with_checked_sentences(recipe, [*TOOLS, other]), [*TOOLS, other])
    assert said.startswith(
        "1 of 4 tools have no sentences in English, so template/v1 words their requests plainly:"
        " find."
    )


def test_flags_and_choices_that_may_be_null_are_flags_and_choices() -> None:
    null = {"type": "null"}
    sort = tool(
        "sort",
        order={"anyOf": [{"enum": ["asc", "desc"]}, null]},
        all={"anyOf": [{"type": "boolean"}, null]},
    )
    text = (
        'sort:\n  requests: ["sort [{order}] [{all}]"]\n  says: {order: {asc: up, desc: down}, all:'
        " {true: all, false: few}}\n"
    )
    assert check_sentences([sentences(text)], [sort]) == ()
    [problem] = check_sentences(
        [sentences(text.replace(", all: {true: all, false: few}", ""))], [sort]
    )
    assert "words for the flag all" in problem.message


def test_two_values_of_any_words_do_not_stand_side_by_side() -> None:
    move = tool(
        "move", song={"type": "string"}, place={"type": "string"}, count={"type": "integer"}
    )
    wrong = 'move:\n  requests: ["move [{song}] [{count} times] [{place}]"]\n'
    [problem] = check_sentences([sentences(wrong)], [move])
    assert (
        problem.message
        == "it is unclear where {song} ends and {place} begins; put words between them"
    )
    assert check_sentences([sentences(wrong.replace("[{place}]", "[to {place}]"))], [move]) == ()


RECIPE = """name: gym
tools:
  - own: [{name: find, description: Find a member., parameters: {type: object, properties: {surname: {type: string}}}}]
    sentences: %s
samples: {perfect: 1}
"""
OWN = 'find:\n  requests: ["look up a member [called {surname}]"]\n'


def written(folder: Path, names: str, **files: str | bytes) -> Path:
    for name, content in files.items():
        path = folder / f"{name.replace('_', '.')}.yaml"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    path = folder / "recipe.yaml"
    path.write_text(RECIPE % names, encoding="utf-8")
    return path


def test_sentences_are_kept_in_the_recipe_and_handed_to_the_template_model_alone(
    tmp_path: Path,
) -> None:
    path = written(tmp_path, "[gym.en.yaml, gym.es.yaml]", gym_en=OWN, gym_es=OWN)
    recipe = read_recipe(path)
    assert [(one.language, one.text) for one in recipe.sentence_files] == [("en", OWN), ("es", OWN)]
    for file in tmp_path.glob("gym.*"):
        file.unlink()
    again = Recipe.model_validate_json(recipe.model_dump_json(by_alias=True))
    assert again.sentence_files == recipe.sentence_files
    assert all(model.sentences == recipe.sentence_files for _, model in roles_of(again))
    other = recipe.as_asked(model="openai/a-model")
    assert all(not model.sentences for _, model in roles_of(other))


@pytest.mark.parametrize(
    ("names", "files", "message"),
    [
        (
            "gym.yaml",
            {},
            (
                "must have the language of its sentences in its name, as in NAME.en.yaml; the languages"
                " are en, es, zh."
            ),
        ),
        ("gym.fr.yaml", {}, "must have the language of its sentences in its name"),
        ("gym.en.txt", {}, "must have the language of its sentences in its name"),
        ("gym.en.yaml", {}, "gym.en.yaml' can't be read: No such file or directory."),
        (
            "gym.en.yaml",
            {"gym_en": b"\xff\xfe"},
            "gym.en.yaml' is not in UTF-8: invalid start byte at byte 0.",
        ),
        (
            "gym.en.yaml",
            {"gym_en": "x" * (MOST_BYTES + 1)},
            "has more than 2,000,000 bytes; split it into several files.",
        ),
        ("3", {}, "must be a list"),
    ],
)
def test_a_file_that_can_not_be_read_is_told_where_the_recipe_names_it(
    tmp_path: Path, names: str, files: dict[str, str | bytes], message: str
) -> None:
    [problem] = read_recipe_file(written(tmp_path, names, **files), with_files=True).problems
    assert problem.line == 4
    assert message in str(problem)
