"""How the tests of this room give text to a segmenter."""

from streaming.text.segmenter import Segmenter


def cut(*deltas, **options):
    """All segments of a context that got these deltas at one moment, then its end."""
    segmenter = Segmenter(**options)
    segments = [segment for delta in deltas for segment in segmenter.append(delta, 0.0)]
    return segments + segmenter.end(0.0)


def texts(segments):
    return [segment.text for segment in segments]


def pieces(text, sizes):
    """The text in deltas of these lengths, over and over."""
    made, begin, turn = [], 0, 0
    while begin < len(text):
        end = begin + sizes[turn % len(sizes)]
        made.append(text[begin:end])
        begin, turn = end, turn + 1
    return made
