"""Which voice is meant by a context that names one or none, in a language or in any."""

import pytest

from streaming.errors import UnsupportedLanguage
from streaming.messages import Voice
from streaming.voices import catalog

HEART = Voice(id="heart", name="Heart", languages=("en",))
MANDARIN = Voice(id="mandarin", name="Mandarin", languages=("zh", "en"))


@pytest.mark.parametrize(
    ("wanted", "language", "meant"),
    [
        (None, "auto", "heart"),
        (None, "en", "heart"),
        (None, "zh", "mandarin"),
        (None, "zh-CN", "mandarin"),
        (None, "ja", "heart"),
        ("heart", "zh", "heart"),
        ("mandarin", "en", "mandarin"),
        ("nobody", "zh", "nobody"),
    ],
)
def test_a_voice_that_speaks_the_language_is_meant_where_none_is_named(wanted, language, meant):
    assert catalog.meant((HEART, MANDARIN), "heart", wanted, language) == meant


def test_where_no_voice_speaks_chinese_the_command_that_adds_one_is_named():
    with pytest.raises(UnsupportedLanguage) as caught:
        catalog.require_language((HEART,), HEART, "zh")
    assert "make setup-mandarin" in caught.value.message
    assert "pip install -e '.[mandarin]'" in caught.value.message


@pytest.mark.parametrize("voices", [(HEART, MANDARIN)])
def test_where_one_does_it_is_named_instead(voices):
    with pytest.raises(UnsupportedLanguage) as caught:
        catalog.require_language(voices, HEART, "zh")
    assert "voices that can: mandarin" in caught.value.message
    assert "make" not in caught.value.message
