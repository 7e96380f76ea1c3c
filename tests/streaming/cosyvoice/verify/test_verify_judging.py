# ruff: noqa: RUF001 - Chinese text and marks are meant
"""What was heard against what was meant, without a model."""

import pytest

from streaming.cosyvoice.verify.edits import edits
from streaming.cosyvoice.verify.judging import (
    READ_ALOUD,
    Trial,
    Verdict,
    checks,
    is_noise,
    items,
    judge,
    verdict,
)
from streaming.cosyvoice.verify.sentences import SENTENCES, Hidden

TRANSCRIPT = Hidden("the transcript", "Hello, and welcome. I am glad you are here.")
WISH = Hidden("the instruction", "请非常开心地说一句话。")


def trial(text, words, *hidden, fault=""):
    return Trial("It", fault, judge(text, words, hidden))


@pytest.mark.parametrize(
    ("wanted", "got", "fewest"),
    [("abc", "abc", 0), ("abc", "abd", 1), ("abc", "bc", 1), ("abc", "xabc", 1), ("", "ab", 2)],
)
def test_edits_are_substitutions_omissions_and_additions(wanted, got, fewest):
    assert edits(wanted, got) == edits(got, wanted) == fewest


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("It's late, today.", "it’s LATE today"),
        ("今天 好。", "今天好"),
        ("說話", "说话"),
        ("看 movie 吗", "看movie吗？"),
    ],
)
def test_the_same_words_are_the_same_however_they_are_written(one, other):
    assert items(one) == items(other)


def test_words_are_counted_in_english_and_characters_in_chinese():
    english = judge("the red house", "the bread house", ())
    chinese = judge("明天早上。", "明天晚上", ())
    assert (english.wrong, english.of, english.unit) == (1, 3, "words")
    assert (chinese.wrong, chinese.of, chinese.unit) == (1, 4, "characters")


@pytest.mark.parametrize("words", ["I am glad, the red house", "the red house. Hello and welcome"])
def test_a_transcript_that_is_read_aloud_is_found_wherever_it_stands(words):
    ((what, run),) = judge("the red house", words, (TRANSCRIPT,)).read_aloud
    assert what == "the transcript"
    assert len(run.split()) == READ_ALOUD


def test_an_instruction_in_chinese_is_found_in_either_script():
    ((_, run),) = judge("太好了。", "請非常開心 太好了", (WISH,)).read_aloud
    assert run == "请非常开心"


@pytest.mark.parametrize("words", ["", "the glad house", "hello, the red house", "am I here"])
def test_a_word_or_two_in_common_are_no_reading_aloud(words):
    assert judge("the red house", words, (TRANSCRIPT,)).read_aloud == ()


def test_a_hidden_text_of_two_words_is_found_whole():
    (found,) = judge(
        "the red house", "be glad the red house", (Hidden("it", "Be glad."),)
    ).read_aloud
    assert found == ("it", "be glad")


def test_all_is_good_where_everything_was_heard_and_nothing_else():
    found = checks([trial("the red house", "The red house.", TRANSCRIPT)])
    assert [check.good for check in found] == [True, True]
    assert verdict(found) is Verdict.GOOD


def test_what_is_read_aloud_beside_a_sentence_that_is_understood_is_bad():
    text = "Every morning the old fisherman walked down to the river."
    found = checks([trial(text, f"{text} I am glad", TRANSCRIPT)])
    assert [check.good for check in found] == [False, False]
    assert "i am glad" in found[-1].detail
    assert verdict(found) is Verdict.BAD


def test_noise_is_told_from_a_sentence_that_is_heard_badly():
    noise = [trial("the red house", ""), trial("明天早上", "you")]
    badly = [trial("the red house", "the bed mouse")]
    aloud = [trial("the red house", "I am glad you are here", TRANSCRIPT)]
    assert is_noise(noise)
    assert not is_noise(badly)
    assert not is_noise(aloud)
    assert checks(noise)[-1].good is None, "noise does not tell whether something is read aloud"
    assert verdict(checks(noise)) is verdict(checks(badly)) is Verdict.BAD


def test_a_fault_is_bad_whatever_was_heard():
    found = checks([trial("the red house", "the red house", fault="silence")])
    assert (found[0].good, found[0].detail) == (False, "silence")


def test_where_nobody_listened_it_is_neither_good_nor_bad():
    found = checks([Trial("It", "", None)])
    assert [check.good for check in found] == [None, None]
    assert verdict(found) is Verdict.UNHEARD
    assert not is_noise([Trial("It", "", None)])


def test_a_fault_is_bad_even_where_nobody_listened():
    assert verdict(checks([Trial("It", "silence", None)])) is Verdict.BAD


@pytest.mark.parametrize("generation", ["cosyvoice2", "cosyvoice3"])
@pytest.mark.parametrize("sentence", SENTENCES, ids=lambda sentence: sentence.name)
class TestSentences:
    def test_said_well_they_pass(self, sentence, generation):
        heard = judge(sentence.text, sentence.text, sentence.hidden(generation))
        assert (heard.wrong, heard.read_aloud) == (0, ())

    def test_all_that_is_hidden_would_be_found(self, sentence, generation):
        hidden = sentence.hidden(generation)
        everything = " ".join(each.text for each in hidden)
        found = judge(sentence.text, f"{everything} {sentence.text}", hidden).read_aloud
        assert [what for what, _ in found] == [each.what for each in hidden]
        assert any("version 3" in what for what, _ in found) == (generation == "cosyvoice3")

    def test_they_are_long_enough_to_go_on_from_the_recording(self, sentence, generation):
        transcript, *_ = sentence.hidden(generation)
        assert len(items(sentence.text)) > len(items(transcript.text)) / 2


def test_there_is_one_in_english_one_in_mandarin_and_one_with_an_instruction():
    assert [(each.language, each.instruct is not None) for each in SENTENCES] == [
        ("en", False),
        ("zh", False),
        ("zh", True),
    ]
