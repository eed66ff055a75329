"""Where a name may begin and end in a text without spaces: the words on either side tell, whatever the name is."""

import pytest

from callwright.language.readers.segmenter import begins_name, counts_things, ends_name, is_framed

UNKNOWN = ("梓阑", "霁云轩", "拾光里程", "阿柴")  # in no dictionary


@pytest.mark.parametrize("name", UNKNOWN)
@pytest.mark.parametrize("before", ["帮我订", "来两杯", "送到", "我想听", "关于", "从", "叫上", "把", "放一首", "今晚"])
def test_a_name_begins_behind_a_verb_a_measure_word_or_a_word_without_content(name: str, before: str) -> None:
    assert begins_name(f"{before}{name}", len(before))


@pytest.mark.parametrize("name", UNKNOWN)
@pytest.mark.parametrize("before", ["国家", "外甥女", "一份炒", "三"])
def test_a_noun_a_bare_number_or_a_verb_that_tells_of_a_sort_may_belong_to_the_name(name: str, before: str) -> None:
    assert not begins_name(f"{before}{name}", len(before))


@pytest.mark.parametrize("name", UNKNOWN)
@pytest.mark.parametrize(
    "behind", ["送三桶", "的票", "和别人", "可以吗", "已经到了", "喝了一杯", "唱得好", "附近", "什么时候开"]
)
def test_a_name_ends_before_a_verb_or_a_word_without_content(name: str, behind: str) -> None:
    assert ends_name(f"{name}{behind}", 0, len(name))


@pytest.mark.parametrize("name", UNKNOWN)
@pytest.mark.parametrize("behind", ["会议", "老师", "上空", "分公司", "会", "发布会的票", "南站"])
def test_what_may_be_a_noun_may_be_the_end_of_the_name(name: str, behind: str) -> None:
    assert not ends_name(f"{name}{behind}", 0, len(name))


def test_no_edge_lies_within_a_word() -> None:
    assert not begins_name("把司马青青的分录一下", 2)
    assert not ends_name("拨一下火锅店的电话", 3, 5)


@pytest.mark.parametrize("name", ["给梓阑", "霁云轩里", "梓阑吧", "霁云轩听听", "去霁云轩", "的梓阑", "从拾光里程"])
def test_words_that_stand_around_names_are_no_part_of_one(name: str) -> None:
    assert is_framed(f"明天{name}", 2, 2 + len(name))


@pytest.mark.parametrize("name", ["梓阑", "向日葵", "网吧", "三里屯", "上海", "从容"])
def test_a_word_that_begins_or_ends_alike_is_whole(name: str) -> None:
    assert not is_framed(f"明天{name}", 2, 2 + len(name))


def test_a_measure_word_tells_that_a_number_counts_things() -> None:
    assert counts_things("发二十份", 3)
    assert not counts_things("发两百的", 3)
