"""The block mask of a whole pass."""

from __future__ import annotations

from streaming.cosyvoice.flow.mask import block_mask


def drawn(mask):
    return ["".join("#" if seen else "." for seen in row) for row in mask.tolist()]


def test_a_frame_sees_up_to_the_end_of_its_block():
    assert drawn(block_mask(5, block_frames=2)) == ["##...", "##...", "####.", "####.", "#####"]


def test_a_window_hides_what_is_older_but_never_the_prompt():
    mask = block_mask(6, window_blocks=1, prompt_blocks=1, block_frames=1)
    assert drawn(mask) == ["#.....", "##....", "###...", "#.##..", "#..##.", "#...##"]


def test_without_a_prompt_only_the_window_is_seen():
    mask = block_mask(4, window_blocks=1, block_frames=1)
    assert drawn(mask) == ["#...", "##..", ".##.", "..##"]
