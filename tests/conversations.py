"""Random conversations: whatever is said in whatever order, every promise is kept."""

from __future__ import annotations

import asyncio
import random
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from servers import LiveServer
from talk import Audio, Talk, talking

CHUNK = 1_920
NONSENSE = (
    "not json", "[]", '{"type": "shout"}', '{"type": "text"}', '{"type": "open", "speed": 9}',
    '{"type": "text", "ctx": "never", "delta": "x"}', '{"type": "end", "ctx": "never"}',
    '{"type": "hello"}', '{"type": "open", "voice": "nobody", "when": "interrupt"}',
)  # fmt: skip
MODES = ("auto", "sentence", "manual", "interleaved")
"""Of the last a voice without it makes the first."""
PIECES = (
    "Yes. ",
    "No, ",
    "well then",
    ". ",
    "A longer piece of text here. ",
    "🎉",
    "3.5",
    "\n\n",
    "",
)


@dataclass
class Speaker:
    """Says random things that make sense, and some that make none; knows what it has said."""

    talk: Talk
    chance: random.Random
    longest_s: float
    """For which nothing is said, now and then."""
    open: list[str] = field(default_factory=list)
    said: dict[str, str] = field(default_factory=dict)
    flushes: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    nonsense: int = 0
    count: int = 0

    async def act(self) -> None:
        kind = self.chance.choices(
            ("open", "text", "flush", "end", "cancel", "all", "played", "nonsense", "wait"),
            (4, 12, 2, 3, 2, 0.3, 2, 2, 3),
        )[0]
        await getattr(self, f"_{kind}")()

    async def _open(self) -> None:
        if len(self.open) >= 12:
            return
        self.count += 1
        ctx = f"c{self.count}"
        when = self.chance.choices(("queue", "interrupt", "replace"), (8, 1, 1))[0]
        mode = self.chance.choice(MODES)
        seed = self.chance.randrange(50)
        await self.talk.send("open", ctx=ctx, when=when, text_mode=mode, seed=seed, levels=True)
        self.said[ctx] = ""
        self.open.append(ctx)

    async def _text(self) -> None:
        if self.open:
            ctx, delta = self.chance.choice(self.open), self.chance.choice(PIECES)
            await self.talk.send("text", ctx=ctx, delta=delta)
            self.said[ctx] += delta

    async def _flush(self) -> None:
        if self.open:
            ctx = self.chance.choice(self.open)
            self.flushes[ctx] += 1
            await self.talk.send("flush", ctx=ctx, id=str(self.flushes[ctx]))

    async def _end(self) -> None:
        if self.open:
            ctx = self.open.pop(self.chance.randrange(len(self.open)))
            await self.talk.send("end", ctx=ctx)

    async def _cancel(self) -> None:
        if self.open:
            ctx = self.open.pop(self.chance.randrange(len(self.open)))
            played_ms = self.chance.choice((None, 0, 100, 1e9))
            await self.talk.send("cancel", ctx=ctx, played_ms=played_ms)

    async def _all(self) -> None:
        self.open.clear()
        await self.talk.send("cancel", ctx="*")

    async def _played(self) -> None:
        if self.open:
            pts_ms = self.chance.choice((0, 50, 200, 1e6))
            await self.talk.send("played", ctx=self.chance.choice(self.open), pts_ms=pts_ms)

    async def _nonsense(self) -> None:
        self.nonsense += 1
        await self.talk.raw(self.chance.choice(NONSENSE))

    async def _wait(self) -> None:
        await asyncio.sleep(self.chance.uniform(0, self.longest_s))


@dataclass
class Witness:
    """What came of each context, checked message by message."""

    speaker: Speaker
    sids: dict[str, int] = field(default_factory=dict)
    ended: dict[str, dict[str, Any]] = field(default_factory=dict)
    audio: dict[int, list[Audio]] = field(default_factory=lambda: defaultdict(list))
    heard: dict[str, str] = field(default_factory=lambda: defaultdict(str))
    flushed: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    last_seq: int = 0

    def see(self, item: dict[str, Any] | Audio) -> None:
        if isinstance(item, Audio):
            self._number(item.seq)
            self._see_audio(item)
        else:
            if "seq" in item:
                self._number(item["seq"])
            self._see_event(item)

    def _number(self, seq: int) -> None:
        assert seq == self.last_seq + 1
        self.last_seq = seq

    def _see_audio(self, packet: Audio) -> None:
        before = self.audio[packet.sid]
        ctx = next(name for name, sid in self.sids.items() if sid == packet.sid)
        assert ctx not in self.ended, f"audio of {ctx} after its end"
        assert packet.pts == 3_840 * len(before)
        assert packet.first == (not before)
        before.append(packet)

    def _see_event(self, event: dict[str, Any]) -> None:
        kind, ctx = event["type"], event.get("ctx", "")
        if kind == "opened":
            assert ctx not in self.sids
            self.sids[ctx] = event["sid"]
            return
        if kind in {"segment", "levels", "flushed", "done", "cancelled", "queued"}:
            assert ctx in self.sids
            assert ctx not in self.ended, f"{kind} of {ctx} after its end"
        if kind == "segment":
            self.heard[ctx] += event["text"]
        elif kind == "flushed":
            self.flushed[ctx].append(event["id"])
        elif kind in {"done", "cancelled"}:
            self.ended[ctx] = event
        elif kind == "error":
            assert event["fatal"] is False

    def judge(self) -> None:
        """Once everything has ended."""
        said = self.speaker.said
        assert set(self.ended) == set(said)
        for ctx, end in self.ended.items():
            packets = self.audio[self.sids[ctx]]
            sent_ms = 80 * len(packets)
            if end["type"] == "done":
                assert _letters(self.heard[ctx]) == _letters(said[ctx])
                assert 0 <= CHUNK * len(packets) - end["samples"] < CHUNK
                expected = [str(n + 1) for n in range(self.speaker.flushes[ctx])]
                assert self.flushed[ctx] == expected
            else:
                # Opened with `interrupt` or `replace`, a later context may have cancelled it
                # before what was said to it afterwards arrived: then that was refused.
                whole = end["text_spoken"] + end["text_remaining"]
                assert said[ctx].startswith(whole)
                assert 0 <= end["played_ms"] <= end["audio_sent_ms"] == sent_ms


def _letters(text: str) -> str:
    """What can be heard of it: emoji and blanks on their own are no segment."""
    return "".join(character for character in text if character.isalnum())


async def converse(
    server: LiveServer,
    seed: int,
    lead_ms: int | None,
    *,
    acts: int = 120,
    longest_s: float = 0.03,
    patience_s: float = 60.0,
) -> None:
    """One session says so many things; then all that came of them is judged."""
    hello = {"audio": {"codec": "pcm_s16le"}, "pacing": {"lead_ms": lead_ms}}
    async with talking(server.ws_url, hello) as talk:
        speaker = Speaker(talk, random.Random(seed), longest_s)
        witness = Witness(speaker)
        talk.got.clear()

        async def listen() -> None:
            while set(witness.ended) != set(speaker.said) or not speaking.done():
                witness.see(await talk.next(patience_s))

        async def speak() -> None:
            for _ in range(acts):
                await speaker.act()
            for ctx in speaker.open:
                await talk.send("end", ctx=ctx)
            await talk.send("ping")

        speaking = asyncio.create_task(speak())
        await asyncio.wait_for(listen(), patience_s)
        await speaking
        witness.judge()
