"""Answers of candidates in exports: which are taught, which stand beside them as worse, and how
often a sample is passed.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from callwright.warehouse.errors import ConfigurationError, RecordError
from callwright.warehouse.exports.formats import export_release
from callwright.warehouse.records import Call, JudgeVerdict, Prediction, Review, Sample
from callwright.warehouse.releases import (
    Answerers,
    AnswerReader,
    PassRates,
    ReleaseContent,
    parse_pass_rates,
)
from callwright.warehouse.store import Warehouse
from tests.support.warehouse.exported import rows_in, stream_of

NAME = "Travel.Desk.book_trip"
TAXI = "出行.打车/now!"
ME = "me~native"


def answer(
    sample: Sample, turn: int, calls: tuple[Call, ...] | None, run: int = 0, **more: Any
) -> Prediction:
    told = {"text": "", "strategy": "native", "candidate": "me", **more}
    return Prediction(release="v1", subject=sample.key, turn=turn, run=run, calls=calls, **told)


@pytest.fixture
def answered(content: ReleaseContent, warehouse: Warehouse) -> Warehouse:
    """Three runs over the trip (right, the same again, wrong); the taxi ride's last turn is
    answered in words.
    """
    trip, imperfect, _external, irrelevant, ride = content.samples
    booked = tuple(Call(tool=NAME, arguments=call.arguments) for call in trip.gold)
    wrong = (Call(tool=NAME, arguments={"city": "Bergen"}),)
    right = [
        answer(trip, 1, booked, 0, reasoning="They want a trip."),
        answer(trip, 1, booked, 1),
        answer(imperfect, 1, (Call(tool=NAME),)),
        answer(irrelevant, 1, (), text="I can't sing."),
        answer(ride, 1, (Call(tool=TAXI),)),
    ]
    mistaken = [answer(trip, 1, wrong, 2), answer(ride, 4, None, text="Fine!", problem="No call.")]
    meant = answer(ride, 4, (Call(tool=TAXI, arguments={"place": "Voss, Norway"}),), 1)
    warehouse.put([content.release, *content.samples, *right, *mistaken, meant])
    warehouse.put(
        [JudgeVerdict(prediction=meant.key, judge="j", agree=True, reason="", version="1")]
    )
    warehouse.mark_errors(
        dict.fromkeys([one.key for one in right], "")
        | dict.fromkeys([one.key for one in mistaken], "wrong_value")
    )
    warehouse.mark_errors({meant.key: "wrong_value"})
    return warehouse


def exported(
    warehouse: Warehouse,
    content: ReleaseContent,
    to: str,
    folder: Path,
    asked: Answerers,
    planted: Any = lambda _: (),
) -> dict[str, list[dict[str, Any]]]:
    """Rows by the key of their sample."""
    reader = AnswerReader(warehouse, "v1", asked, planted)
    stream = stream_of(content)
    export_release(
        stream._replace(samples=reader.through(stream.samples), answers=reader.of),
        to,
        folder / "out",
    )
    found: dict[str, list[dict[str, Any]]] = {}
    origins = folder / "out" / "v1.origins.jsonl"
    rows = rows_in(folder / "out" / "v1.jsonl")
    told = (
        rows_in(origins)
        if origins.exists()
        else [{**row, **json.loads(row["origin"])} for row in rows]
    )
    for row, origin in zip(rows, told, strict=True):
        found.setdefault(origin["key"], []).append(row | {"origin": origin})
    return found


ASKED = Answerers((("me", "native"),))


def test_right_answers_are_taught_once_with_what_was_thought(
    answered: Warehouse, content: ReleaseContent, tmp_path: Path
) -> None:
    found = exported(answered, content, "trl", tmp_path, ASKED)
    trip, imperfect, external, irrelevant, ride = content.samples
    [row] = found[trip.key]
    assert row["messages"][-1]["reasoning_content"] == "They want a trip."
    assert row["messages"][-1]["tool_calls"][0]["function"]["arguments"]["city"] == "Oslo"
    assert (row["pass_rate"], row["origin"]["given_by"]) == (pytest.approx(2 / 3), ME)
    assert found[irrelevant.key][0]["messages"][-1]["content"] == "I can't sing."
    assert (
        imperfect.key not in found
    )  # a call that lacks what is required is right by rule, and nothing to learn
    assert external.key not in found  # nobody has answered it
    assert ride.key not in found  # wrong at its end, and a call where it should ask


def test_what_openai_refuses_stands_with_the_origins(
    answered: Warehouse, content: ReleaseContent, tmp_path: Path
) -> None:
    [row] = exported(answered, content, "openai", tmp_path, ASKED)[content.samples[0].key]
    assert row["messages"][-1].keys() == {"role", "tool_calls"}
    assert row["origin"]["pass_rate"] == pytest.approx(2 / 3)


def test_pairs_set_an_own_right_answer_or_the_gold_against_a_wrong_one(
    answered: Warehouse, content: ReleaseContent, tmp_path: Path
) -> None:
    found = exported(answered, content, "trl-dpo", tmp_path, ASKED)
    trip, ride = content.samples[0], content.samples[4]
    [row] = found[trip.key]
    assert row["rejected"][0]["tool_calls"][0]["function"]["arguments"] == {"city": "Bergen"}
    assert (row["origin"]["given_by"], row["origin"]["rejected_by"]) == (ME, ME)
    [row] = found[ride.key]  # what a judge finds to mean the same is no worse answer
    assert (row["origin"]["turn"], row["rejected"][0]["content"]) == (4, "Fine!")
    assert row["chosen"][0]["tool_calls"][0]["function"]["arguments"] == {"place": "Voss"}
    assert "given_by" not in row["origin"]
    assert found.keys() == {trip.key, ride.key}


def test_each_answer_is_labelled(
    answered: Warehouse, content: ReleaseContent, tmp_path: Path
) -> None:
    found = exported(answered, content, "trl-kto", tmp_path, ASKED)
    trip, ride = content.samples[0], content.samples[4]
    assert [(row["label"], row["origin"].get("given_by")) for row in found[trip.key]] == [
        (True, ME),
        (False, ME),
    ]
    told = [
        (row["origin"]["turn"], row["label"], row["origin"].get("given_by"))
        for row in found[ride.key]
    ]
    assert told == [(1, True, None), (4, True, None), (4, False, ME)]


def test_prompts_tell_their_tools_and_keep_the_gold(
    answered: Warehouse, content: ReleaseContent, tmp_path: Path
) -> None:
    found = exported(answered, content, "trl-grpo", tmp_path, ASKED)
    [row] = found[content.samples[0].key]
    assert json.loads(row["gold"])[0]["name"] == "Travel_Desk_book_trip"
    assert row["prompt"][0]["content"].count('"name":"Travel_Desk_book_trip"') == 1
    assert [one["role"] for one in row["prompt"]] == ["system", "user"]
    [row] = found[content.samples[3].key]
    assert (row["gold"], bool(row["words"]), row["pass_rate"]) == ("[]", True, 1.0)


def test_only_samples_within_the_band_go_out(
    answered: Warehouse, content: ReleaseContent, tmp_path: Path
) -> None:
    found = exported(
        answered, content, "trl-grpo", tmp_path, ASKED._replace(band=PassRates(0.5, 0.8))
    )
    assert found.keys() == {content.samples[0].key}
    with pytest.raises(RecordError, match="not within --pass-rate"):
        exported(
            answered,
            content,
            "trl-grpo",
            tmp_path / "none",
            ASKED._replace(band=PassRates(0.9, 0.95)),
        )


def test_what_a_person_corrected_and_planted_defects_are_worse_than_the_gold(
    content: ReleaseContent, warehouse: Warehouse, tmp_path: Path
) -> None:
    ride, trip = content.samples[4], content.samples[0]
    turn = ride.turns[4].with_changes(
        calls=(ride.gold[0].with_changes(arguments={"place": "Oslo"}),)
    )
    doubted = ride.with_changes(turns=(*ride.turns[:4], turn))
    said = Review(
        subject=doubted.key,
        kind="sample_review",
        decision="edit",
        reviewer="ida",
        reviewed_at=content.release.created_at,
        result=ride.key,
    )
    warehouse.put([content.release, *content.samples, doubted, said])
    broken = trip.turns[1].with_changes(
        calls=(trip.gold[0].with_changes(arguments={"city": "Bergen"}),)
    )

    def planted(sample: Sample) -> list[tuple[str, Sample]]:
        same_words = sample.with_changes(
            turns=(sample.turns[0].with_changes(text="Other words."), broken)
        )
        found = [
            ("words", same_words),
            ("value", sample.with_changes(turns=(sample.turns[0], broken))),
        ]
        return found if sample.key == trip.key else []

    rows = exported(warehouse, content, "trl-dpo", tmp_path, Answerers(), planted)
    told = {key: [row["origin"]["rejected_by"] for row in found] for key, found in rows.items()}
    assert told == {ride.key: ["person: corrected"], trip.key: ["planted: value"]}


@pytest.mark.parametrize("stated", ["3", "0.8:0.2", "-1:0.5", "nan:1", "a:b", "0.2:1.5"])
def test_a_band_that_is_none_is_refused(stated: str) -> None:
    with pytest.raises(ConfigurationError, match="LOW:HIGH"):
        parse_pass_rates(stated)
