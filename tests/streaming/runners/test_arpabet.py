# ruff: noqa: RUF001 - letters that look like others are what this is about
import pytest
from hibari.g2p import G2P

from streaming.runners.arpabet import to_misaki

WORDS = {
    "JH IH1 F": "jiff",
    "HH AH0 L OW1": "hello",
    "B OY1": "boy",
    "N AW1": "now",
    "M AY1": "my",
    "N ER1 S": "nurse",
    "TH AO1 T": "thought",
    "F AA1 DH ER0": "father",
    "K AE1 T": "cat",
    "S IY1": "see",
    "B L UW1": "blue",
    "V IH1 ZH AH0 N": "vision",
}


@pytest.mark.parametrize("british", [False, True])
def test_words_are_spelt_as_the_voice_spells_them_itself(british):
    g2p = G2P(british=british)
    spelt = {phones: to_misaki(phones, british=british) for phones in WORDS}
    known = {phones: g2p(word).replace("ᵊ", "ə") for phones, word in WORDS.items()}
    assert spelt == known


def test_a_second_stress_and_small_letters_count_too():
    assert to_misaki("y uw2 n ah0 v er1 s ah0 t iy0") == "jˌunəvˈɜɹsəti"


def test_a_sound_that_is_none_is_an_error():
    with pytest.raises(KeyError):
        to_misaki("JH QQ F")
