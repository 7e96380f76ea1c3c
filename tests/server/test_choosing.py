# ruff: noqa: RUF001 - full-width marks are meant
import pytest

from server import choosing
from server.access import Identity
from streaming.messages import Voice
from streaming.voices import catalog

VOICES = (
    Voice(id="heart", name="Heart", languages=("en",)),
    Voice(id="mandarin", name="Mandarin", languages=("zh", "en")),
)


class Engine:
    """Knows two voices; the first is the default."""

    def __init__(self, voices=VOICES):
        self.voices = voices

    def voice_of(self, wanted, language, _owner):
        return catalog.meant(self.voices, "heart", wanted, language)


def chosen(text, identity=Identity("anonymous"), engine=Engine()):  # noqa: B008 - both are values
    return choosing.other_voice(text, identity, engine)


@pytest.mark.parametrize("text", ["你好", "他说 hello，走了。", "ok 好的", "「好」" + "a" * 100])
def test_chinese_gets_the_voice_that_speaks_it(text):
    assert chosen(text) == "mandarin"


@pytest.mark.parametrize(
    "text", ["Hello.", "12.5", "", "🎉", "Das ist nicht viel.", "こんにちは", "привет"]
)
def test_all_else_stays_with_the_default(text):
    assert chosen(text) is None


def test_a_voice_that_the_token_does_not_cover_is_not_chosen():
    assert chosen("你好", Identity("key", voices=frozenset({"heart"}))) is None
    assert chosen("你好", Identity("key", voices=frozenset({"mandarin"}))) == "mandarin"


def test_where_none_can_speak_it_the_default_stays():
    assert chosen("你好", engine=Engine(VOICES[:1])) is None


def test_only_where_neither_voice_nor_language_was_named():
    assert choosing.undecided(None, "auto")
    assert not choosing.undecided("heart", "auto")
    assert not choosing.undecided(None, "en")


def test_a_letter_is_what_tells():
    assert choosing.tells("5 ok")
    assert not choosing.tells("5, 🎉。")


def test_the_warning_names_the_voice():
    warning = choosing.chosen("a", "mandarin")
    assert (warning.code, warning.ctx, warning.voice) == ("voice_chosen", "a", "mandarin")
    assert "mandarin" in warning.message
