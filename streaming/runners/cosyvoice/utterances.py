"""A segment as it begins: its text as ids, what stands before it in the LLM, and nothing made yet.

Knows: how a model wants text and prompts. Does not know: stages, which voices there are.
"""

from __future__ import annotations

from streaming.cosyvoice.prompt.spelling import spell
from streaming.cosyvoice.sizes import Generation
from streaming.cosyvoice.token_stream import TokenStream
from streaming.cosyvoice.tokenizer import TextTokenizer
from streaming.cosyvoice.vocoder import MelStretch
from streaming.cosyvoice.vocoder.stepping import StreamingVocoder
from streaming.errors import SynthesisFailed
from streaming.hops import Rhythm
from streaming.runners.base import Work
from streaming.runners.cosyvoice.progress import Progress
from streaming.runners.cosyvoice.prompts import Prompts
from streaming.runners.cosyvoice.utterance import Arriving, Utterance
from streaming.runners.cosyvoice.voice_parts import VoicePart
from streaming.segment import Segment
from streaming.text.words import usual_samples


class Utterances:
    """Segments of one model."""

    def __init__(
        self, tokenizer: TextTokenizer, generation: Generation, vocoder: StreamingVocoder
    ) -> None:
        self._tokenizer = tokenizer
        self._generation = generation
        self._vocoder = vocoder
        self._prompts = Prompts(tokenizer, generation)

    def text_of(self, work: Work) -> tuple[int, ...]:
        """Its text as ids; none of a segment that comes in parts, which are taken as they come.

        Raises:
            SynthesisFailed: there is nothing to say.
        """
        if work.interleaved:
            return ()
        text = tuple(self._tokenizer.encode(self._spelled(work.segment), control=False))
        if not text:
            raise SynthesisFailed(f"the model finds nothing to say in {work.segment.text[:80]!r}")
        return text

    def begin(
        self, work: Work, text: tuple[int, ...], voice: VoicePart, rhythm: Rhythm
    ) -> Utterance:
        """The state of the segment with that ``text``, to be spoken with that voice."""
        arriving = self._arriving(work)
        known = None if arriving else len(text)
        prompt = self._prompts.of(voice.spoken, work.instruct, work.segment.language, known)
        given = len(arriving.ids) if arriving else len(text)
        return Utterance(
            ctx=work.ctx,
            segment=work.segment.index,
            seed=work.seed,
            voice=voice,
            prompt=prompt,
            text=text,
            progress=Progress(
                rhythm,
                block_rest=rhythm.block_tokens,
                speed=work.speed,
                prefill_tokens=len(prompt.text) + given + len(prompt.speech),
                llm_hears=arriving is not None,
            ),
            stretch=MelStretch(work.speed),
            sound=self._vocoder.begin(_sound_seed(work)),
            arriving=arriving,
            usual_samples=_usual_samples(work),
        )

    def grow(self, row: Utterance, work: Work, part: Segment) -> None:
        """More text of a segment that comes in parts, or that it is complete."""
        assert row.arriving is not None, "only interleaved text comes in parts"
        row.arriving.add(self._spelled(part), more=part.more)
        row.usual_samples = _usual_samples(work)

    def _arriving(self, work: Work) -> Arriving | None:
        if not work.interleaved:
            return None
        arriving = Arriving(TokenStream(self._tokenizer))
        arriving.add(self._spelled(work.segment), more=work.segment.more)
        return arriving

    def _spelled(self, segment: Segment) -> str:
        return spell(segment, self._generation).text


def _usual_samples(work: Work) -> int:
    return round(usual_samples(work.segment) / work.speed)


def _sound_seed(work: Work) -> int:
    """The vocoder's noise is the segment's own."""
    return work.seed * 1_000_003 + work.segment.index
