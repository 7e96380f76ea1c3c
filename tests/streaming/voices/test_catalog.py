import pytest

from streaming.errors import UnknownVoice, UnsupportedLanguage
from streaming.messages import Voice
from streaming.voices import catalog

HEART = Voice(id="heart", name="Heart", languages=("en",))
MEI = Voice(id="mei", name="Mei", languages=("zh", "en"))
TONE = Voice(id="tone", name="Tone", languages=("*",))
ALL = (HEART, MEI)


def test_an_unknown_voice_is_refused_with_those_there_are():
    with pytest.raises(UnknownVoice, match=r"'hart'.*heart, mei"):
        catalog.find(ALL, "hart")


def test_of_many_voices_some_are_named():
    many = [Voice(id=f"v{i}", name="", languages=("en",)) for i in range(1, 101)]
    with pytest.raises(UnknownVoice, match=r"v1, .*, v20 and 80 more$"):
        catalog.find(many, "hart")


@pytest.mark.parametrize("language", ["en", "en-GB", "EN_us", "auto", ""])
def test_a_language_is_told_by_its_primary_tag(language):
    assert catalog.speaks(HEART, language)


@pytest.mark.parametrize("language", ["zh", "yue-HK", "eng"])
def test_another_language_is_not_spoken(language):
    assert not catalog.speaks(HEART, language)


def test_a_tone_speaks_anything():
    assert catalog.speaks(TONE, "tlh")


def test_the_refusal_names_who_can_and_where_to_read_on():
    with pytest.raises(UnsupportedLanguage) as refused:
        catalog.require_language(ALL, HEART, "zh-CN")
    assert "voices that can: mei" in refused.value.message
    assert "docs/voices.md" in refused.value.message


def test_the_refusal_says_so_where_nobody_can():
    with pytest.raises(UnsupportedLanguage, match="no voice of this server can"):
        catalog.require_language(ALL, MEI, "ko")
