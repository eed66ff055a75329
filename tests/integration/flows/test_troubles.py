"""Troubles: each is told in one sentence, loses nothing, and the next good build goes on from
there.
"""

import json
from pathlib import Path

import pytest

from callwright.flows.recipe import read_recipe
from callwright.flows.run.land import BuildReport
from callwright.flows.settings import Settings
from callwright.llm.prompts import prompt_version
from callwright.warehouse.errors import (
    BudgetError,
    CallwrightError,
    ConfigurationError,
    TransientError,
    UnavailableError,
)
from tests.support.flows.model_server import (
    BUSY,
    FILTERED,
    ILL,
    NO_SUCH_MODEL,
    PRICE,
    PRICED,
    WRONG_KEY,
    Behaviour,
    ModelServer,
    Refusal,
    ServedRequest,
    serve_model,
)
from tests.support.flows.small_builds import (
    KINDS,
    assert_balanced,
    build,
    leftovers,
    one,
    row_counts,
    run_here,
    settings_of,
    stub_roles,
    unmeasured_recipe,
    warehouse_of,
    write_unmeasured_recipe,
)
from tests.support.llm.names import ANOTHER, OUT
from tests.support.sampling import slow

FEW = {"perfect": 6, "irrelevant": 2}


def whole(server: ModelServer, home: Path, **changes: object) -> BuildReport:
    """A build that nothing troubles any more."""
    server.behaviour = lambda asked: None
    settings = settings_of(home)
    report = build(unmeasured_recipe(models=stub_roles(server), samples=FEW, **changes), settings)
    assert_balanced(report, settings)
    assert report.planned == sum(FEW.values())
    assert leftovers(settings) == []
    return report


def always(answer: Refusal | str) -> Behaviour:
    return lambda asked: answer


@pytest.fixture(scope="module")
def untroubled(tmp_path_factory: pytest.TempPathFactory) -> int:
    """How many requests a small build takes that nothing troubles."""
    with serve_model() as server:
        recipe = unmeasured_recipe(
            models=stub_roles(server, concurrency=2), samples=FEW, shard_size=2
        )
        build(recipe, settings_of(tmp_path_factory.mktemp("untroubled")))
        return server.requests


@pytest.mark.parametrize(
    ("refusal", "error", "said"),
    [
        (
            WRONG_KEY,
            ConfigurationError,
            r"refuses the key for openai/stub; set the model's api_key_variable",
        ),
        slow(
            NO_SUCH_MODEL,
            ConfigurationError,
            r"no model 'openai/stub' there; see its name and api_base",
        ),
        slow(ILL, TransientError, r"openai/stub can't answer now: .* It was asked 2 times"),
        (
            BUSY,
            UnavailableError,
            r"Rate limit reached\. It was asked \d+ times in 0 s\. .* patience \(0\.2 s\)",
        ),
    ],
)
def test_a_provider_that_refuses_everything_ends_the_build_early_and_loses_nothing(
    model_server: ModelServer,
    tmp_path: Path,
    untroubled: int,
    refusal: Refusal,
    error: type[CallwrightError],
    said: str,
) -> None:
    settings = settings_of(tmp_path)
    roles = stub_roles(model_server, concurrency=2, patience=0.2)
    recipe = unmeasured_recipe(models=roles, samples=FEW, shard_size=2)
    model_server.behaviour = lambda asked: refusal if asked.number >= 10 else None
    with pytest.raises(
        error, match=said + r".*[.] \d+ records of the group '\w+' are not done"
    ) as caught:
        build(recipe, settings)
    assert type(caught.value) is error
    assert model_server.requests <= 10 + 2 * 2 * 2, "the rest is not asked for nothing"
    assert leftovers(settings) == []
    model_server.behaviour = lambda asked: None
    model_server.asked.clear()
    assert_balanced(build(recipe, settings), settings)
    assert (
        one(settings, "select count(*) from llm_calls where not cached and error = ''")
        == untroubled
    )


def malformed_first(asked: ServedRequest) -> str | None:
    return (
        '{"request": "Half'
        if asked.title == "Wording" and asked.times == 0 and "can't be used" not in asked.question
        else None
    )


def test_a_reply_that_is_malformed_now_and_then_is_repaired(
    model_server: ModelServer, tmp_path: Path
) -> None:
    model_server.behaviour = malformed_first
    settings = settings_of(tmp_path)
    report = build(unmeasured_recipe(models=stub_roles(model_server), samples=FEW), settings)
    assert_balanced(report, settings)
    assert one(settings, "select count(*) from failures") == 0
    assert one(settings, "select count(*) from samples") == report.planned


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ('{"parameters": ["', "The reply is not a "),
        slow(
            "I'm sorry, but I can't help with that.",
            "It begins: \"I'm sorry, but I can't help with that.\"",
        ),
        slow("", "The reply is not a "),
        (FILTERED, "content filter"),
        (Refusal(400, "Invalid request"), "refuses a request"),
    ],
    ids=["malformed", "refused", "empty", "filtered", "bad request"],
)
def test_replies_that_are_never_usable_become_failures_with_their_reasons(
    model_server: ModelServer, tmp_path: Path, answer: Refusal | str, said: str
) -> None:
    model_server.behaviour = always(answer)
    settings = settings_of(tmp_path)
    report = build(unmeasured_recipe(models=stub_roles(model_server), samples=FEW), settings)
    assert_balanced(report, settings)
    assert (report.planned, report.landed) == (sum(FEW.values()), 0)
    failures = warehouse_of(settings).rows("select * from failures")
    assert len(failures) == sum(FEW.values())
    for failure in failures:
        assert (failure["error"], failure["build"]) == ("ReplyError", report.build)
        assert said in failure["reason"]
    assert sum(row.records for row in report.failures) == len(failures)
    assert any(said in remark for remark in report.remarks)
    assert leftovers(settings) == []


def test_the_embedded_model_that_always_refuses_fails_every_record_and_the_build_ends_well(
    tmp_path: Path,
) -> None:
    model = {"name": "template/v1", "error_rate": {"refusal": 1.0}}
    recipe = write_unmeasured_recipe(tmp_path, models={"generator": model})
    done = run_here("build", str(recipe), "--json", home=tmp_path / "home")
    assert done.returncode == 1, done.stderr
    assert f"None of the {sum(KINDS.values())} samples asked for has landed: " in done.stderr
    found = json.loads(done.stdout)
    assert found["landed"] == 0
    assert sum(row["records"] for row in found["failures"]) == sum(KINDS.values())
    told = run_here("build", str(recipe), home=tmp_path / "home").stdout
    assert "failed, for example because: " in told
    assert one(settings_of(tmp_path / "home"), "select count(*) from failures") == sum(
        KINDS.values()
    )


def test_a_spent_budget_stops_the_build_and_a_higher_one_goes_on(
    model_server: ModelServer, tmp_path: Path
) -> None:
    settings = settings_of(tmp_path)
    roles = stub_roles(model_server, name=PRICED, concurrency=4, max_tokens=30)
    for budget in (PRICE * 10, PRICE * 20):
        recipe = unmeasured_recipe(models=roles, samples=FEW, budget=budget, shard_size=3)
        with pytest.raises(BudgetError, match=r"does not allow another request.* Raise the budget"):
            build(recipe, settings)
        spent = one(settings, "select sum(cost) from llm_calls")
        assert 0 < spent <= budget
        assert spent == pytest.approx(model_server.requests * PRICE)
    report = build(unmeasured_recipe(models=roles, samples=FEW, budget=1.0), settings)
    assert_balanced(report, settings)
    assert one(settings, "select count(*) from samples") == report.planned
    assert max(model_server.asked.values()) == 1


def test_requests_that_were_sent_twice_are_seen_and_counted(
    model_server: ModelServer, tmp_path: Path
) -> None:
    def first_hangs(asked: ServedRequest) -> None:
        model_server.delay = 0.0 if asked.number % 3 else 0.5  # of the next one

    model_server.behaviour = first_hangs
    settings = settings_of(tmp_path)
    roles = stub_roles(model_server, name=PRICED, hedge_after=0.15, max_tokens=500)
    report = build(unmeasured_recipe(models=roles, samples={"perfect": 4}, budget=1.0), settings)
    assert_balanced(report, settings)
    called_off, answered = "error like 'Called off%'", "not cached and error = ''"
    assert one(settings, f"select count(*) from llm_calls where {called_off}") > 0
    assert one(settings, f"select min(cost) from llm_calls where {called_off}") > 500 * OUT
    assert one(settings, f"select max(cost) from llm_calls where {answered}") == pytest.approx(
        PRICE
    )
    assert one(settings, "select sum(n_errors) from costs") == one(
        settings, f"select count(*) from llm_calls where {called_off}"
    )


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A work folder with a small build."""
    home = tmp_path_factory.mktemp("built")
    build(unmeasured_recipe(samples={"perfect": 2}), settings_of(home))
    return home


def built_counts(settings: Settings) -> dict[str, int]:
    """The rows of each table but those that a document leaves that was read: it is read once,
    whatever is then made of it.
    """
    read = {"tools", "catalogs", "catalog_tools", "catalog_problems"}
    return {table: count for table, count in row_counts(settings).items() if table not in read}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"tools": [{"import": "openai", "path": "absent.json"}]}, "absent.json"),
        ({"tools": [{"import": "openai", "path": "empty.json"}]}, "holds no tool"),
        ({"tools": [{"import": "openai", "path": "broken.json"}]}, "broken.json"),
        (
            {
                "tools": [{"import": "openai", "path": "bare.json"}],
                "languages": ["en"],
                "samples": {"imperfect": 3},
            },
            "samples of the kind 'imperfect'",
        ),
        (
            {"models": {"judge": {"name": "template/v1", "error_rate": {"laziness": 0.5}}}},
            "no defect 'laziness'",
        ),
        (
            {"models": {"judge": {"name": "template/v1", "error_rate": {"refusal": 5}}}},
            "error_rate.refusal",
        ),
        slow({"models": {"judge": {"name": "nonsense/model"}}}, "nonsense/model"),
        (
            {"models": {"judge": {"name": ANOTHER, "api_base": "ftp://x"}}},
            "must begin with http://",
        ),
    ],
    ids=["absent", "no tool", "broken", "kind", "defect", "rate", "provider", "address"],
)
def test_a_recipe_that_asks_for_the_impossible_changes_nothing(
    built: Path, tmp_path: Path, changes: dict[str, object], said: str
) -> None:
    settings = settings_of(built)
    before = (built_counts(settings), one(settings, "select build from latest_builds"))
    (tmp_path / "empty.json").write_text("[]", encoding="utf-8")
    (tmp_path / "broken.json").write_text("[{", encoding="utf-8")
    bare = {
        "type": "function",
        "function": {"name": "ring", "description": "Ring the bell.", "parameters": {}},
    }
    (tmp_path / "bare.json").write_text(json.dumps([bare]), encoding="utf-8")

    with pytest.raises(ConfigurationError, match=said):
        build(read_recipe(write_unmeasured_recipe(tmp_path, **changes)), settings)
    if said != "nonsense/model":  # only asking finds out; a build that asks is written down
        assert built_counts(settings) == before[0]
    assert one(settings, "select build from latest_builds") == before[1]
    assert leftovers(settings) == []


def test_an_address_where_nobody_listens_is_told_and_tried_again_next_time(
    model_server: ModelServer, tmp_path: Path
) -> None:
    nobody = stub_roles(model_server, api_base="http://127.0.0.1:9/v1", attempts=1)
    home = tmp_path / "home"
    done = run_here(
        "build", str(write_unmeasured_recipe(tmp_path, models=nobody, samples=FEW)), home=home
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert "openai/stub can't be reached" in done.stderr
    assert "8 records of the group 'single_turn' are not done" in done.stderr
    assert "Traceback" not in done.stderr
    whole(model_server, home)


def test_a_wrong_key_ends_the_command_with_exit_code_2(
    model_server: ModelServer, tmp_path: Path
) -> None:
    model_server.behaviour = always(WRONG_KEY)
    home = tmp_path / "home"
    roles = stub_roles(model_server, api_key_variable="MY_API_KEY")
    recipe = write_unmeasured_recipe(tmp_path, models=roles, samples=FEW)
    done = run_here("build", str(recipe), home=home, MY_API_KEY="sk-very-secret")
    assert (done.returncode, done.stdout) == (2, "")
    assert "set MY_API_KEY to a valid one" in done.stderr
    assert "sk-very-secret" not in done.stderr
    assert "Traceback" not in done.stderr
    whole(model_server, home)


def test_prompts_that_a_recipe_brings_are_asked_in_the_place_of_ours(
    model_server: ModelServer, tmp_path: Path
) -> None:
    shipped = (
        Path(__file__).parents[3] / "generators/single_turn/prompts/word_request.j2"
    ).read_text(encoding="utf-8")
    own = shipped.replace("--- system\n", "--- system\nSpeak like a sailor. ")
    (tmp_path / "sailor.j2").write_text(own, encoding="utf-8")
    model_server.behaviour = lambda asked: None
    changes = {
        "models": stub_roles(model_server),
        "samples": FEW,
        "prompts": {"word_request": "sailor.j2"},
    }
    settings = settings_of(tmp_path / "home")
    report = build(read_recipe(write_unmeasured_recipe(tmp_path, **changes)), settings)
    worded = [
        question for question in model_server.asked if json.loads(question)[1] == "SlottedRequest"
    ]
    assert worded
    assert all("Speak like a sailor." in question for question in worded)
    assert not any(
        "sailor" in question for question in model_server.asked if question not in worded
    )
    [origin] = warehouse_of(settings).rows(
        "select distinct prompt_version from llm_calls where stage = 'requests'"
    )
    assert origin["prompt_version"] != prompt_version(
        "callwright.generators.single_turn.prompts", "word_request"
    )
    again = build(read_recipe(write_unmeasured_recipe(tmp_path, **changes)), settings)
    assert again.build == report.build
