from streaming.engine.request import ContextRequest, to_text_open
from streaming.messages import LexiconEntry, Ready, Voice

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
