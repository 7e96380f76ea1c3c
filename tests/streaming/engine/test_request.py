import pytest

from streaming.engine.request import ContextRequest, check, to_open, to_text_open
from streaming.messages import Ready, Voice
from streaming.segment import LexiconEntry

VOICE = Voice(id="a", name="A", languages=("zh", "en"))


def ready(**more):
    return Ready(runner="r", device="cpu", voices=(VOICE,), default_voice="a", slots=1, **more)


def test_the_front_end_is_told_what_the_voice_and_the_engine_need():
    entry = LexiconEntry(text="GIF", say="jif")
    engine = ready(marks=("[breath]",), min_segment_chars=20, max_segment_chars=120)
    told = to_text_open(7, ContextRequest(language="zh", lexicon=(entry,)), VOICE, engine, 200)
    assert (told.ctx, told.language, told.voice, told.voice_languages) == (
        7,
        "zh",
        "a",
        ("zh", "en"),
    )
    assert (told.marks, told.min_segment_chars, told.lexicon) == (("[breath]",), 20, (entry,))


def test_of_two_limits_the_lower_counts_and_an_engine_need_not_have_one():
    asked = ContextRequest()
    assert to_text_open(1, asked, VOICE, ready(max_segment_chars=120), 200).max_segment_chars == 120
    assert to_text_open(1, asked, VOICE, ready(max_segment_chars=300), 200).max_segment_chars == 200
    assert to_text_open(1, asked, VOICE, ready(), 200).max_segment_chars == 200
    assert to_text_open(1, asked, VOICE, ready(), 200).min_segment_chars == 0


class TestTextInMidSentence:
    @pytest.mark.parametrize(
        ("options", "instruct", "taken"),
        [
            ((), None, False),
            (("interleaved",), None, True),
            (("instruct", "interleaved"), "Happily.", False),
            (("instruct", "interleaved", "instruct_interleaved"), "Happily.", True),
        ],
    )
    def test_is_asked_of_an_engine_that_takes_it_and_told_where_it_does_not(
        self, options, instruct, taken
    ):
        asked = ContextRequest(text_mode="interleaved", instruct=instruct)
        engine = ready(options=options)
        ignored = check(asked, engine)
        assert [option for option, _ in ignored] == ([] if taken else ["text_mode"])
        assert to_open(1, asked, "a", engine).interleaved is taken
        told = to_text_open(1, asked, VOICE, engine, 200)
        assert told.text_mode == ("interleaved" if taken else "auto")

    def test_the_words_say_what_is_done_instead(self):
        ((option, said),) = check(ContextRequest(text_mode="interleaved"), ready())
        assert option == "text_mode"
        assert said.startswith("voice 'a' of the r engine takes no text in mid-sentence")
        assert said.endswith("text_mode is 'auto', not 'interleaved'")

    def test_no_other_mode_is_changed(self):
        for mode in ("auto", "sentence", "manual"):
            asked = ContextRequest(text_mode=mode)
            engine = ready(options=("interleaved",))
            assert to_text_open(1, asked, VOICE, engine, 200).text_mode == mode
            assert not to_open(1, asked, "a", engine).interleaved
