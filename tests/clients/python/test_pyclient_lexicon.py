"""How words are spoken, as the command is told: a file, single words, or both."""

from __future__ import annotations

import pytest

from cosystream.cli.lexicon import read_lexicon
from cosystream.cli.usage import Usage

SAID = ["GIF=jif"]
GIF = {"text": "GIF", "say": "jif"}


@pytest.fixture
def written(tmp_path):
    def write(text: str) -> str:
        path = tmp_path / "words.json"
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def test_without_either_nothing_is_sent():
    assert read_lexicon(None, []) is None


def test_single_words_need_no_file_and_may_hold_more_than_one_equals_sign():
    assert read_lexicon(None, ["GIF=jif", "a = b=c"]) == {"GIF": "jif", "a": "b=c"}


def test_an_object_of_words_becomes_entries(written):
    lexicon = read_lexicon(written('{"重庆": "山城"}'), SAID)
    assert lexicon == [{"text": "重庆", "say": "山城"}, GIF]


def test_entries_stay_what_they_are(written):
    entries = '[{"text": "重庆", "pinyin": "chóng qìng"}]'
    assert read_lexicon(written(entries), []) == [{"text": "重庆", "pinyin": "chóng qìng"}]
    assert read_lexicon(written(entries), SAID)[-1] == GIF


def test_single_words_join_dashscopes_form_in_its_own_way(written):
    fix = '{"pronunciation": [{"重庆": "chong2 qing4"}], "replace": [{"今天": "金天"}]}'
    assert read_lexicon(written(fix), SAID) == {
        "pronunciation": [{"重庆": "chong2 qing4"}],
        "replace": [{"今天": "金天"}, {"GIF": "jif"}],
    }


@pytest.mark.parametrize("said", ["GIF", "=jif", "GIF=", " = "])
def test_a_word_without_words_is_asked_wrongly(said):
    with pytest.raises(Usage, match="write WORD=WORDS"):
        read_lexicon(None, [said])


@pytest.mark.parametrize(
    ("text", "told"),
    [("{", "not JSON"), ("7", "neither a list"), ('{"replace": "x", "y": 1}', "neither a list")],
)
def test_a_file_that_is_no_lexicon_is_told_by_its_name(written, text, told):
    with pytest.raises(Usage, match=rf"words\.json: {told}"):
        read_lexicon(written(text), [])


def test_a_file_that_is_not_there_is_told():
    with pytest.raises(Usage, match=r"cannot read gone\.json \(No such file"):
        read_lexicon("gone.json", [])
