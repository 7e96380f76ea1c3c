"""A segment that comes in parts: how they add up to one.

Pure, and plain data. Does not know: who cuts text into parts, who speaks them.
"""

from __future__ import annotations

import msgspec

from streaming.segment import Segment, Span


def joined(segment: Segment, part: Segment) -> Segment:
    """``segment`` with its next part behind it; it ends as that part does."""
    text, source = len(segment.text), len(segment.source)
    moved = moved_by(part, text, source)
    spans = (*_spans(segment), *moved.spans) if segment.spans or part.spans else ()
    return msgspec.structs.replace(
        segment,
        text=segment.text + part.text,
        source=segment.source + part.source,
        char_end=part.char_end,
        ending=part.ending,
        spans=spans,
        pronunciations=(*segment.pronunciations, *moved.pronunciations),
        more=part.more,
    )


def moved_by(part: Segment, text: int, source: int) -> Segment:
    """The part's spans and pronunciations, told from so many characters before it."""
    spans = tuple(
        Span(
            span.begin + text,
            span.end + text,
            span.source_begin + source,
            span.source_end + source,
        )
        for span in _spans(part)
    )
    said = tuple(
        msgspec.structs.replace(each, begin=each.begin + text, end=each.end + text)
        for each in part.pronunciations
    )
    return msgspec.structs.replace(part, spans=spans, pronunciations=said)


def _spans(segment: Segment) -> tuple[Span, ...]:
    """Where nobody kept track the text stands for the source as a whole."""
    if segment.spans or not segment.text:
        return segment.spans
    return (Span(0, len(segment.text), 0, len(segment.source)),)
