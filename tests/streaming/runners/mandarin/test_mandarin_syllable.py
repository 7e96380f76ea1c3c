"""Pinyin to syllables to phonemes: tables."""

import pytest

from streaming.runners.mandarin.ipa import to_ipa
from streaming.runners.mandarin.syllable import Syllable, parse


@pytest.mark.parametrize(
    ("pinyin", "syllable"),
    [
        ("zhong4", Syllable("zh", "ong", 4)),
        ("yu3", Syllable("", "ü", 3)),
        ("ju2", Syllable("j", "ü", 2)),
        ("quan2", Syllable("q", "üan", 2)),
        ("lv4", Syllable("l", "ü", 4)),
        ("lve4", Syllable("l", "üe", 4)),
        ("nue4", Syllable("n", "üe", 4)),
        ("liu2", Syllable("l", "iou", 2)),
        ("gui4", Syllable("g", "uei", 4)),
        ("sun1", Syllable("s", "uen", 1)),
        ("wen2", Syllable("", "uen", 2)),
        ("yan1", Syllable("", "ian", 1)),
        ("er2", Syllable("", "er", 2)),
        ("de5", Syllable("d", "e", 5)),
        ("ng2", Syllable("", "ng", 2)),
    ],
)
def test_spelling_is_written_out(pinyin, syllable):
    assert parse(pinyin) == syllable


@pytest.mark.parametrize("wrong", ["", "1", "ma", "ma6", "zh1", "🙂1"])
def test_what_is_no_pinyin_is_refused(wrong):
    with pytest.raises(ValueError, match="is no pinyin"):
        parse(wrong)


@pytest.mark.parametrize(
    ("pinyin", "phonemes"),
    [
        ("ni3", "ni↓"),
        ("hao3", "xau↓"),
        ("zhong1", "ꭧʊ→ŋ"),
        ("guo2", "kwo↗"),
        ("shi4", "ʂɨ↘"),
        ("ci2", "ʦʰɨ↗"),
        ("ji1", "ʨi→"),
        ("xue2", "ɕɥe↗"),
        ("yuan2", "ɥɛ↗n"),
        ("yan2", "jɛ↗n"),
        ("bo1", "pwo→"),
        ("o4", "ɔ↘"),
        ("er4", "ɚ↘"),
        ("ren2", "ɻə↗n"),
        ("le5", "lɤ"),
    ],
)
def test_the_tone_stands_behind_the_nucleus(pinyin, phonemes):
    assert to_ipa(parse(pinyin)) == phonemes


@pytest.mark.parametrize(
    ("initial", "final", "tone", "phonemes"),
    [
        ("h", "ua", 1, "xwa→ɚ"),
        ("d", "ian", 3, "tja↓ɚ"),
        ("h", "ai", 2, "xa↗ɚ"),
        ("sh", "i", 4, "ʂɚ↘"),
        ("h", "uei", 4, "xwə↘ɚ"),
        ("j", "in", 4, "ʨi↘ɚ"),
        ("k", "ong", 4, "kʰʊ↘ɚ"),
    ],
)
def test_an_r_grows_onto_a_final(initial, final, tone, phonemes):
    assert to_ipa(Syllable(initial, final, tone, rhotic=True)) == phonemes
