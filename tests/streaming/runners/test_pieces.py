# ruff: noqa: RUF001 - letters that look like others are what this is about
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from streaming.runners.pieces import LONGEST_PIECE, SEAM_SAMPLES, join_piece, split_phonemes


def test_a_sentence_of_the_usual_length_stays_whole():
    assert split_phonemes("həlˈO ðˈɛɹ.") == ("həlˈO ðˈɛɹ.",)


def test_a_long_one_is_cut_after_a_clause():
    clause = "a" * 150 + ","
    assert split_phonemes(f"{clause} {'b ' * 100}")[0] == clause


def test_without_a_clause_it_is_cut_between_words():
    pieces = split_phonemes("abcd " * 100)
    assert {word for piece in pieces for word in piece.split()} == {"abcd"}


@given(st.text("ab ,.", max_size=2000))
def test_nothing_is_lost_and_no_piece_is_too_long(phonemes):
    pieces = split_phonemes(phonemes.strip())
    assert all(0 < len(piece) <= LONGEST_PIECE for piece in pieces)
    assert "".join(pieces).replace(" ", "") == phonemes.replace(" ", "")


CLIP = np.concatenate([np.zeros(6_000), np.ones(4_800), np.zeros(9_600)]).astype(np.float32)


def test_a_clip_alone_is_left_as_it_is():
    assert len(join_piece(CLIP, first=True, last=True)) == len(CLIP)


def test_silence_at_a_seam_is_cut_down():
    assert len(join_piece(CLIP, first=True, last=False)) == 6_000 + 4_800 + SEAM_SAMPLES - 1
    assert len(join_piece(CLIP, first=False, last=True)) == SEAM_SAMPLES + 4_800 + 9_600


def test_silence_alone_is_kept():
    silence = np.zeros(100, np.float32)
    assert len(join_piece(silence, first=False, last=False)) == 100
