"""Parts of a segment add up to one."""

import msgspec
from making import segment

from streaming.growing import joined, moved_by
from streaming.segment import Pronunciation, Span


def part(text, source=None, *, start=0, spans=(), said=(), ending="forced", more=True):
    source = text if source is None else source
    return msgspec.structs.replace(
        segment(text, ending=ending),
        source=source,
        char_start=start,
        char_end=start + len(source),
        spans=spans,
        pronunciations=said,
        more=more,
    )


def test_text_and_source_follow_each_other_and_the_last_tells_how_it_ends():
    whole = joined(part("One two"), part(" three.", start=7, ending="sentence", more=False))
    assert (whole.text, whole.source) == ("One two three.", "One two three.")
    assert (whole.char_start, whole.char_end) == (0, 14)
    assert (whole.ending, whole.more) == ("sentence", False)


def test_what_stands_for_what_is_told_from_the_whole():
    first = part("It is", spans=(Span(0, 5, 0, 5),))
    second = part(" four dollars", " $4", start=5, spans=(Span(1, 13, 1, 3),))
    whole = joined(first, second)
    assert whole.spans == (Span(0, 5, 0, 5), Span(6, 18, 6, 8))
    assert whole.text[6:18] == "four dollars"
    assert whole.source[6:8] == "$4"


def test_a_part_of_which_nobody_kept_track_stands_for_its_source():
    whole = joined(part("Hm"), part(" four", " 4", start=2, spans=(Span(1, 5, 1, 2),)))
    assert whole.spans == (Span(0, 2, 0, 2), Span(3, 7, 3, 4))
    assert joined(part("Hm"), part(" so", start=2)).spans == ()


def test_phones_go_along():
    gif = part(" GIF", said=(Pronunciation(1, 4, "arpabet", "JH IH1 F"),))
    assert joined(part("a"), gif).pronunciations == (Pronunciation(2, 5, "arpabet", "JH IH1 F"),)


def test_an_empty_part_changes_nothing_but_the_end():
    one = part("One", spans=(Span(0, 3, 0, 3),))
    assert joined(one, part("", more=False, ending="end", start=3)) == msgspec.structs.replace(
        one, more=False, ending="end"
    )


def test_a_part_alone_can_be_told_from_further_back():
    assert moved_by(part("ab"), 3, 2).spans == (Span(3, 5, 2, 4),)
