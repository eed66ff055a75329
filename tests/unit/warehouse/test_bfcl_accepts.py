"""BFCL's check, as CONFETTI's scoring has it, accepts every gold call that is exported and
refuses what is not it.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from bench.bfcl import check_calls
from callwright.testing import make_sample, make_tool
from callwright.validators.accepted import allowances_of
from callwright.validators.metrics.confetti.bfcl import DecodedCall, decode_calls
from callwright.warehouse.records import CallTurn, GoldCall, ResultTurn, Sample, Tool, UserTurn
from callwright.warehouse.releases import ReleaseContent
from tests.support.warehouse.exported import bfcl_files, release_of

TRIP, RIDE = "Travel.Desk.book_trip", "出行.打车/now!"


@pytest.fixture
def every_kind(content: ReleaseContent, arguments: dict[str, Any]) -> ReleaseContent:
    trip, ride = (
        GoldCall(tool=TRIP, arguments=arguments),
        GoldCall(tool=RIDE, arguments={"place": "Voss"}),
    )
    later = GoldCall(tool=TRIP, arguments={"city": "$$$", "nights": 3})

    def made(kind: str, *turns: Any) -> Sample:
        return content.samples[0].with_changes(
            kind=kind, turns=(UserTurn(text=f"A {kind}."), *turns)
        )

    more = (
        made("routing_easy", CallTurn(calls=(trip,))),
        made("routing_hard", CallTurn(calls=(ride, later))),
        made("multi_step", CallTurn(calls=(trip, ride), executed=True), ResultTurn(results=(1, 2))),
        made(
            "conversation", CallTurn(calls=(ride, ride), executed=True), ResultTurn(results=(1, 2))
        ),
    )
    return content._replace(samples=(*content.samples, *more))


def questions(
    content: ReleaseContent,
) -> Iterator[tuple[str, list[dict[str, Any]], list[DecodedCall], list[Any]]]:
    files = bfcl_files(content)
    for category, asked, answers in (
        ("multiple", files.questions, files.answers),
        ("parallel", files.repeated_questions, files.repeated_answers),
        ("parallel_multiple", files.parallel_questions, files.parallel_answers),
    ):
        for question, answer in zip(asked, answers, strict=True):
            truth = answer["ground_truth"]
            yield category, question["function"], [gold(one) for one in truth], truth


def gold(answer: dict[str, dict[str, list[Any]]]) -> DecodedCall:
    [(name, accepted)] = answer.items()
    return DecodedCall(
        name, {key: plain(values[0]) for key, values in accepted.items() if values != [""]}
    )


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: members[0] for name, members in value.items()}
    return (
        [plain(one) if isinstance(one, dict) else one for one in value]
        if isinstance(value, list)
        else value
    )


def other(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 17
    return f"{value}x" if isinstance(value, str) else {} if isinstance(value, dict) else []


def broken(calls: list[DecodedCall]) -> Iterator[tuple[str, list[DecodedCall]]]:
    first, *rest = calls
    yield "another name", [first._replace(name="sing"), *rest]
    yield "one too many", [*calls, first]
    yield "one too few", rest
    yield "a strange parameter", [first._replace(arguments={**first.arguments, "zz": 1}), *rest]
    for name, value in first.arguments.items():
        yield (
            f"another {name}",
            [first._replace(arguments={**first.arguments, name: other(value)}), *rest],
        )
        yield (
            f"no {name}",
            [
                first._replace(
                    arguments={key: one for key, one in first.arguments.items() if key != name}
                ),
                *rest,
            ],
        )


def test_gold_of_every_kind_is_accepted_and_broken_calls_are_not(
    every_kind: ReleaseContent,
) -> None:
    seen = 0
    for category, documents, calls, truth in questions(every_kind):
        assert check_calls(documents, calls, truth, category).valid, truth
        for what, made in broken(calls):
            assert not check_calls(documents, made, truth, category).valid, (what, truth)
            seen += 1
    assert seen > 40


def test_what_only_a_result_tells_may_be_the_placeholder_or_left_out(
    every_kind: ReleaseContent,
) -> None:
    [(category, documents, calls, truth)] = [
        one for one in questions(every_kind) if "$$$" in str(one[3])
    ]
    for city in ({"city": "$$$"}, {}):
        made = [calls[0], DecodedCall(calls[1].name, {"nights": 3, **city})]
        assert check_calls(documents, made, truth, category).valid
    assert not check_calls(
        documents,
        [calls[0], DecodedCall(calls[1].name, {"nights": 3, "city": "Rome"})],
        truth,
        category,
    ).valid


def test_calls_of_real_apis_are_decoded_as_what_they_are(content: ReleaseContent) -> None:
    """Names with signs that Python reads otherwise, and its keywords, would break the reader of
    calls.
    """
    tool = Tool(
        name="get-user-by.id",
        description="",
        parameters={
            "type": "object",
            "properties": {name: {"type": "integer"} for name in ("page-size", "from", "2nd")},
        },
        category="",
    )
    call = GoldCall(tool=tool.name, arguments={"page-size": 5, "from": 1, "2nd": 7})
    done = CallTurn(calls=(call,), executed=True)
    turns = (UserTurn(text="Go."), done, ResultTurn(results=(1,)), done, ResultTurn(results=(1,)))
    sample = content.samples[0].with_changes(turns=turns, candidates=(tool.key,))
    files = bfcl_files(content._replace(samples=(sample,), tools={tool.key: tool}))
    question, answer = files.questions[1], files.answers[1]
    decoded = decode_calls(question["question"][0][1]["content"])
    assert decoded.calls == [gold(one) for one in answer["ground_truth"]]
    assert check_calls(
        question["function"], decoded.calls, answer["ground_truth"], "multiple"
    ).valid
    [document] = question["function"]
    assert document["name"] == "get_user_by_id"
    assert [*document["parameters"]["properties"]] == ["page_size", "_from", "_2nd"]


def test_what_is_right_besides_the_gold_stands_among_the_accepted_answers() -> None:
    unit = {"type": "string", "enum": ["metric", "imperial"], "default": "metric"}
    days = {"type": "array", "items": {"type": "string", "enum": ["mon", "tue"]}}
    tool = make_tool("forecast", required=["city"], city=None, unit=unit, days=days)
    given = {"city": "Ulm", "days": ["tue", "mon"]}
    sample = make_sample([tool], "Ulm, on Tuesday and Monday?", {"forecast": given})
    files = bfcl_files(release_of([sample], {tool.key: tool}), allowances=allowances_of)
    [question], [answer] = files.questions, files.answers
    truth = answer["ground_truth"]
    assert truth == [
        {
            "forecast": {
                "city": ["Ulm"],
                "unit": ["metric", ""],
                "days": [["tue", "mon"], ["mon", "tue"]],
            }
        }
    ]
    for more, is_right in (
        ({}, True),
        ({"unit": "metric"}, True),
        ({"days": ["mon", "tue"]}, True),
        ({"unit": "imperial"}, False),
        ({"days": ["mon"]}, False),
    ):
        made = [DecodedCall("forecast", given | more)]
        assert check_calls(question["function"], made, truth, "multiple").valid is is_right
