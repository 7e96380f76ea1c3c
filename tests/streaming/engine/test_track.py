from functools import reduce

import msgspec
import numpy as np
import pytest
from making import segment

from streaming.config import PauseSettings
from streaming.engine.track import Track
from streaming.errors import SynthesisFailed
from streaming.growing import joined
from streaming.messages import Audio, SegmentGrown, SegmentStarted, Words
from streaming.runners.base import Made
from streaming.samples import CHUNK_SAMPLES

LENGTH = 12_000
TONE = (0.3 * np.sin(np.arange(LENGTH) / 8)).astype(np.float32)


def track(*, words=False):
    return Track(1, PauseSettings(), words=words)


def in_parts(*texts):
    """A segment of which so much has come, part by part, and what it is in all."""
    parts, at = [], 0
    for text in texts:
        part = msgspec.structs.replace(
            segment(text), char_start=at, char_end=at + len(text), more=True
        )
        parts.append(part)
        at += len(text)
    return parts, reduce(joined, parts)


def audio(events):
    return [event for event in events if isinstance(event, Audio)]


def test_chunks_follow_each_other_without_hole_and_end_with_the_last():
    one = track()
    events = one.add(segment(), Made(TONE, done=True), final=True)
    chunks = audio(events)
    positions = [chunk.position_samples for chunk in chunks]
    lengths = [len(chunk.pcm) // 2 for chunk in chunks]
    assert positions == [CHUNK_SAMPLES * each for each in range(len(chunks))]
    assert set(lengths[:-1]) == {CHUNK_SAMPLES}
    assert sum(lengths) == one.position_samples
    assert [chunk.last for chunk in chunks] == [False] * (len(chunks) - 1) + [True]


def test_a_segment_is_announced_where_its_audio_begins():
    one = track()
    one.add(segment(index=0), Made(TONE, done=True), final=False)
    before = one.position_samples
    events = one.add(segment(index=1), Made(TONE, done=True), final=True)
    (started,) = (event for event in events if isinstance(event, SegmentStarted))
    pause = 24 * (PauseSettings().sentence_ms - PauseSettings().end_ms)
    assert started.position_samples == before + pause
    assert started.segment.index == 1


def test_the_audio_is_the_same_whenever_the_end_was_told():
    early, late = track(), track()
    told = audio(early.add(segment(), Made(TONE, done=True), final=True))
    asked = audio([*late.add(segment(), Made(TONE, done=True), final=False), *late.finish()])
    assert b"".join(chunk.pcm for chunk in told) == b"".join(chunk.pcm for chunk in asked)
    assert told[-1].last
    assert asked[-1].last


def test_a_segment_in_many_steps_is_announced_once():
    one = track()
    events = []
    for piece in range(3):
        events += one.add(segment(), Made(TONE[:4_000], done=piece == 2), final=False)
    assert sum(isinstance(event, SegmentStarted) for event in events) == 1


def test_what_waits_for_its_chunk_to_be_full_comes_with_the_end():
    one = track()
    out = audio(one.add(segment(), Made(TONE, done=True), final=False))
    rest = audio(one.finish())
    assert len(rest) == 1
    assert rest[0].last
    assert sum(len(chunk.pcm) // 2 for chunk in out + rest) == one.position_samples


def test_words_come_before_their_audio_when_the_whole_segment_is_made():
    events = track(words=True).add(segment("Hello there."), Made(TONE, done=True), final=True)
    kinds = [type(event) for event in events]
    assert kinds.index(Words) < kinds.index(Audio)
    (words,) = [event for event in events if isinstance(event, Words)]
    assert [word.text for word in words.items] == ["Hello", "there"]
    assert words.source == "estimate"


def test_words_come_before_their_audio_when_the_runner_knows_how_long_it_will_be():
    one = track(words=True)
    first = one.add(
        segment("Hello there."), Made(TONE, done=False, expected_samples=2 * LENGTH), final=False
    )
    then = one.add(segment("Hello there."), Made(TONE, done=True), final=True)
    assert any(isinstance(event, Words) for event in first)
    assert not any(isinstance(event, Words) for event in then)


def test_words_of_the_usual_length_stand_in_until_the_length_is_known():
    one, spoken = track(words=True), segment("Hello there.")
    guess = Made(TONE, done=False, usual_samples=4 * LENGTH)
    known = Made(TONE, done=False, expected_samples=3 * LENGTH, usual_samples=4 * LENGTH)
    made = (guess, guess, known, Made(TONE, done=True))
    steps = [one.add(spoken, each, final=each.done) for each in made]
    told = [[each for each in step if isinstance(each, Words)] for step in steps]
    assert [[each.provisional for each in step] for step in told] == [[True], [], [False], []]
    assert told[0][0].items[-1].end_samples > told[2][0].items[-1].end_samples


def test_nobody_who_did_not_ask_is_sent_words():
    events = track().add(segment(), Made(TONE, done=True), final=True)
    assert not any(isinstance(event, Words) for event in events)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_samples_that_are_no_numbers_are_refused(value):
    samples = TONE.copy()
    samples[5] = value
    with pytest.raises(SynthesisFailed):
        track().add(segment(), Made(samples, done=True), final=True)


class TestASegmentInParts:
    def test_is_announced_with_each_part_of_it_that_came_by_itself(self):
        one = track()
        parts, whole = in_parts("One", " two", " three")
        made = Made(TONE[:4_000], done=False)
        started, *grown = one.add(whole, made, final=False, parts=parts)[:3]
        assert (type(started), started.segment.source) == (SegmentStarted, "One")
        assert [type(each) for each in grown] == [SegmentGrown] * 2
        assert [each.part.source for each in grown] == [" two", " three"]
        assert [each.position_samples for each in grown] == [0, 0]

    def test_tells_more_of_it_where_it_is_by_then(self):
        one = track()
        (part, more), whole = in_parts("One", " two")
        assert one.grow(part) == []  # nothing of it sounds yet
        one.add(part, Made(TONE, done=False), final=False)
        (grown,) = one.grow(more)
        assert (grown.part, grown.position_samples) == (more, one.position_samples)
        assert grown.position_samples > 0
        empty = msgspec.structs.replace(whole, source="", more=False)
        assert one.grow(empty) == []

    def test_has_the_pause_that_its_last_part_asks_for(self):
        in_one, late = track(), track()
        in_one.add(segment(ending="paragraph"), Made(TONE, done=True), final=False)
        growing = msgspec.structs.replace(segment(ending="forced"), more=True)
        late.add(growing, Made(TONE[:9_000], done=False), final=False)
        whole = msgspec.structs.replace(growing, ending="paragraph", more=False)
        late.add(whole, Made(TONE[9_000:], done=True), final=False)
        following = Made(TONE, done=True)
        for each in (in_one, late):
            each.add(segment(index=1), following, final=True)
        assert late.position_samples == in_one.position_samples

    def test_guesses_its_words_anew_with_each_part_until_its_length_is_known(self):
        one = track(words=True)
        (part, more), whole = in_parts("One two", " three four")
        guess = Made(TONE, done=False, usual_samples=24_000)
        first = [each for each in one.add(part, guess, final=False) if isinstance(each, Words)]
        one.grow(more)
        second = [each for each in one.add(whole, guess, final=False) if isinstance(each, Words)]
        known = Made(TONE, done=False, expected_samples=36_000)
        third = [each for each in one.add(whole, known, final=False) if isinstance(each, Words)]
        assert [[len(each.items) for each in told] for told in (first, second, third)] == [
            [2],
            [4],
            [4],
        ]
        assert [told[0].provisional for told in (first, second, third)] == [True, True, False]
