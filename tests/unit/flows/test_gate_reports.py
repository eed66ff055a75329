"""Reports of a gate: whatever candidates and people wrote, XML can be read and Markdown stays
what it is.
"""

import tempfile
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from callwright.flows.evaluation.gate import AnsweredItem, GateBound, GateResult, Scope, read_bounds
from callwright.warehouse.errors import ConfigurationError

TEXT = st.text(st.characters(codec="utf-8"), max_size=20) | st.sampled_from(
    [
        "]]>",
        "<!--",
        "<b>x</b>",
        "| a |",
        "\x00\x08\x1b",
        "\ufffe",
        "`x`",
        "![a](b)",
        "<http://x>",
        "a\r\n\n# b",
        "**b**",
        "\\|",
    ]
)
CALLS = st.lists(
    st.fixed_dictionaries({"tool": TEXT, "arguments": st.dictionaries(TEXT, TEXT)}), max_size=2
)


@st.composite
def items(draw: st.DrawFn) -> list[AnsweredItem]:
    """Answers to some samples, those of each together."""
    answered = st.builds(
        AnsweredItem,
        sample=st.just(""),
        kind=TEXT,
        turn=st.none() | st.integers(0, 9),
        run=st.integers(0, 3),
        due=CALLS,
        calls=st.none() | CALLS,
        text=TEXT,
        problem=TEXT,
        verdict=st.none() | st.booleans(),
        error_type=st.none() | TEXT,
        request=TEXT,
    )
    of_samples = draw(st.lists(st.lists(answered, min_size=1, max_size=3), max_size=4))
    return [
        one._replace(sample=f"key{number}")
        for number, of_one in enumerate(of_samples)
        for one in of_one
    ]


@given(items(), TEXT)
def test_a_report_has_a_case_and_a_row_a_sample_whatever_is_written_in_it(
    answered: list[AnsweredItem], name: str
) -> None:
    demand = GateBound(name, name, name, 0.5, 0.9, None, passed=False)
    gate = GateResult(
        Scope(name, name, name, "first", "as_paper", ""),
        [demand],
        {name: {name: 0.5}},
        lambda _: answered,
    )
    with tempfile.TemporaryDirectory() as folder:
        gate.write_junit(Path(folder) / "gate.xml")
        gate.write_summary(Path(folder) / "gate.md")
        suites = ET.parse(Path(folder) / "gate.xml").getroot().findall("testsuite")  # noqa: S314 - our own
        page = (Path(folder) / "gate.md").read_text(encoding="utf-8")
    failing = {one.sample for one in answered if one.verdict is False or one.problem}
    judged = {one.sample for one in answered if one.verdict is not None}
    samples = {one.sample for one in answered}
    counts = [{key: suite.get(key) for key in ("tests", "failures", "skipped")} for suite in suites]
    assert counts[0] == {"tests": "1", "failures": "1", "skipped": "0"}
    assert counts[1] == {
        "tests": str(len(samples)),
        "failures": str(len(failing)),
        "skipped": str(len(samples - failing - judged)),
    }
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(page)
    inner = {part.type for one in tokens for part in one.children or ()}
    assert inner <= {"text", "text_special"}, "no mark, link, image or HTML"
    assert not {one.type for one in tokens} & {
        "html_block",
        "fence",
        "code_block",
        "bullet_list_open",
        "hr",
    }
    assert sum(one.type == "tr_open" for one in tokens) == 4 + (1 + len(failing) if failing else 0)


@pytest.mark.parametrize("stated", ["args_acc", "args_acc=", "args_acc=a", "=="])
def test_a_bound_that_is_none_is_answered_with_the_form(stated: str) -> None:
    with pytest.raises(
        ConfigurationError, match=r"--fail-under takes METRIC=NUMBER, such as args_acc=0\.9, not"
    ):
        read_bounds([stated], "--fail-under")
    assert read_bounds(["args_acc=0.9", "pr/func_acc=1"], "") == {
        "args_acc": 0.9,
        "pr/func_acc": 1.0,
    }
