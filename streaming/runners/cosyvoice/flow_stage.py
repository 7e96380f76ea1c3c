"""The flow's stage: one Euler step of each context's hop, and of voices that are being made.

Knows: hops, voices' pages. Does not know: where tokens come from, what becomes of frames.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from streaming.config import CosyVoiceSettings
from streaming.cosyvoice.flow.pool import OutOfPages
from streaming.cosyvoice.flow.stream import Flow
from streaming.cosyvoice.flow.values import FlowState, Hop, VoiceHop
from streaming.cosyvoice.sizes import LOOKAHEAD_TOKENS
from streaming.errors import DeviceFull
from streaming.runners.base import Later, Made, StepResult
from streaming.runners.cosyvoice.copy_log import NOTHING_KEPT, TO_DEVICE, CopyLog
from streaming.runners.cosyvoice.parking import Parking
from streaming.runners.cosyvoice.rhythm import FIRST_HOP_TOKENS, FLOW
from streaming.runners.cosyvoice.threads import Place
from streaming.runners.cosyvoice.together import together
from streaming.runners.cosyvoice.utterance import Utterance

USUAL_PAGES = 12
"""Seconds that a context looks back, its recording with them; more are captured when met."""

USUAL_BLOCKS = 2
"""Of a context's hop; steps of more are captured when met, too."""

_NOTHING = np.zeros(0, np.float32)


class FlowStage:
    """Speech tokens to mel frames."""

    def __init__(
        self,
        flow: Flow,
        place: Place,
        settings: CosyVoiceSettings,
        make_room: Callable[[], int],
        parking: Parking,
        copies: CopyLog = NOTHING_KEPT,
    ) -> None:
        """``make_room`` frees some of what nobody needs now, and tells how much that was."""
        self._make_room = make_room
        self._parking = parking
        self._copies = copies
        self._flow = flow
        self._place = place
        self._prompt_s = settings.flow_prompt_s
        self._first_hop_tokens = settings.first_hop_tokens or FIRST_HOP_TOKENS[flow.device.type]
        self._window_s = settings.flow_window_s or None

    def warm(self, contexts: int) -> int:
        """Make ready the steps of every shape that so many contexts usually meet; how many."""
        rows = USUAL_BLOCKS * contexts
        return self._place.run(lambda: self._flow.warm(rows, USUAL_PAGES)).result()

    def begin(self, row: Utterance) -> bool:
        """Whether the row's voice is there; then it has a state, and knows its first hop."""
        voice = row.voice.flow.voice
        if row.flow is None and voice is not None and not row.voice_steps:
            row.flow = self._flow.begin(voice, window_s=self._window_s)
            row.progress.block_rest = self._flow.next_hop(row.flow)
        return row.flow is not None

    def step(self, rows: Sequence[Utterance]) -> Later:
        """One Euler step of each, its voice's first."""
        self._parking.launch(rows)
        begins = [row.flow is not None and row.progress.begin_euler() for row in rows]
        of_voices = [row for row in rows if row.flow is None]
        for row in of_voices:
            row.voice_steps += 1
        made = self._place.run(lambda: together(rows, self._compute))

        def land(made: Sequence[Exception | None]) -> list[StepResult]:
            for row in of_voices:
                row.voice_steps -= 1
            landed = [_land(*each) for each in zip(rows, begins, made, strict=True)]
            self._parking.land(rows)
            return landed

        return Later(made, land)

    def _compute(self, rows: Sequence[Utterance]) -> list[Exception | None]:
        failed = [self._prepare(row) for row in rows]
        hops = {
            id(hop): hop
            for row, failure in zip(rows, failed, strict=True)
            if failure is None and (hop := _hop(row)) is not None and not hop.done
        }
        if hops:
            self._flow.euler(list(hops.values()))
        for row in rows:
            part = row.voice.flow
            if part.making is not None and part.making.done:
                part.voice, part.making = part.making.voice, None
        return failed

    def _prepare(self, row: Utterance) -> Exception | None:
        """A hop, or the voice's; to have no memory for it fails one context, not the batch."""
        try:
            self._take_pages(row)
        except OutOfPages as error:
            return DeviceFull(error.message)
        return None

    def _take_pages(self, row: Utterance) -> None:
        while True:
            try:
                self._begin_hop(row)
            except OutOfPages:
                if not self._make_room():
                    raise
            else:
                return

    def _begin_hop(self, row: Utterance) -> None:
        if row.flow is None:
            self._prepare_voice(row)
        elif row.hop is None:
            row.flow = self._parking.back(row.flow, row.ctx)
            row.hop = self._start(row.flow, row)

    def _prepare_voice(self, row: Utterance) -> None:
        """Back from the host, else made."""
        part = row.voice.flow
        if part.voice is not None or part.making is not None:
            return
        if part.away is not None:
            with self._copies.copying(FLOW, TO_DEVICE, (part.key,), part.away_bytes):
                part.voice = self._flow.to_device(part.away)
            part.away = None
        else:
            part.making = self._flow.prepare(
                part.prompt, prompt_s=self._prompt_s, first_hop_tokens=self._first_hop_tokens
            )

    def _start(self, state: FlowState, row: Utterance) -> Hop:
        progress = row.progress
        ahead = 0 if progress.last_hop else LOOKAHEAD_TOKENS
        return self._flow.start(state, row.tokens[: progress.hop + ahead], last=progress.last_hop)


def _hop(row: Utterance) -> Hop | VoiceHop | None:
    return row.voice.flow.making if row.flow is None else row.hop


def _land(row: Utterance, begins: bool, failure: Exception | None) -> StepResult:
    if failure is not None:
        if begins:
            row.hop = None
            row.progress.undo_begin()
        return failure
    if row.flow is not None and row.hop is not None:
        tokens = row.progress.hop
        if row.progress.end_euler():
            row.mel.append(row.hop.mel)
            row.flow, row.hop = row.hop.state, None
            del row.tokens[:tokens]
    return Made(_NOTHING, done=False, state=row, expected_samples=row.expected_samples)
