"""Stems: what is inflected is one word, and no noun becomes a negation."""

import pytest

from callwright.language.values import find_boolean


@pytest.mark.parametrize(
    ("description", "text", "stated"),
    [
        ("收藏识别结果", "要收藏识别结果", True),
        ("收藏识别结果", "不要收藏识别结果", False),
        ("免费无线网络", "要免费无线网络", True),
        ("早餐", "特别要早餐", True),
        ("早餐", "别要早餐", False),
    ],
)
def test_a_character_within_a_word_negates_nothing(
    description: str, text: str, *, stated: bool
) -> None:
    schema = {"type": "boolean", "description": description}
    assert find_boolean(stated, schema, text) is not None
    assert find_boolean(not stated, schema, text) is None
