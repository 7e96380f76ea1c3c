"""Shorthands for what the tests of contexts and the engine are about."""

from streaming.context import Context, Pending
from streaming.messages import Open
from streaming.segment import Segment
from streaming.steps import Want


def segment(text="Hello there.", index=0, ending="sentence"):
    return Segment(
        index=index, text=text, source=text, char_start=0, char_end=len(text), ending=ending
    )


def context(ctx=1, *, priority=0, audible_s=0.0, target_s=0.15):
    return Context(
        Open(ctx=ctx, voice="tone-a", priority=priority),
        audible_s=audible_s,
        first_packet_target_s=target_s,
    )


def waiting(ctx=1, *, arrived_s=0.0, units=10.0, stage="speech", then=(), **kwargs):
    made = context(ctx, **kwargs)
    made.queue.append(Pending(segment(), arrived_s))
    made.wants = {stage: Want(stage, units, then)}
    return made
