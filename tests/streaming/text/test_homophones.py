import pytest

from streaming.text.normal.homophones import CHARACTERS, character


def test_common_syllables_have_a_character():
    assert [character(syllable) for syllable in ("hao4", "lü4", "ni3", "de5")] == list("号律你的")
    assert character("xyz1") is None


def test_each_is_read_as_the_table_says():
    pypinyin = pytest.importorskip("pypinyin", reason="its readings come with the Mandarin voice")
    for syllable, char in CHARACTERS.items():
        readings = pypinyin.pinyin(
            char,
            style=pypinyin.Style.TONE3,
            heteronym=True,
            neutral_tone_with_five=True,
            v_to_u=False,
        )[0]
        assert syllable in readings, char
