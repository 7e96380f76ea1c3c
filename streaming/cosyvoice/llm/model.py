"""The network of both generations, with the official parameter names.

Codes (see ``ids``) to embeddings, Qwen2's body, the head. Does not know: slots' owners, sampling.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

import torch
from torch import Tensor, nn

from streaming.cosyvoice.llm.body import Place, Qwen2Body
from streaming.cosyvoice.llm.ids import ids_of
from streaming.cosyvoice.sizes import LlmSizes


class SpeechLlm(nn.Module):
    """``llm.pt`` loads with ``strict=True``."""

    def __init__(self, sizes: LlmSizes) -> None:
        super().__init__()
        self.sizes = sizes
        self.ids = ids_of(sizes)
        second = sizes.generation == "cosyvoice2"
        rows = self.ids.speech_rows
        self.llm_embedding = nn.Embedding(2, sizes.hidden) if second else None
        self.llm = _Causal(sizes)
        self.llm_decoder = nn.Linear(sizes.hidden, rows, bias=second)
        self.speech_embedding = nn.Embedding(rows, sizes.hidden)
        # torch gives this method no types.
        self.register_load_state_dict_post_hook(_tidy)  # type: ignore[no-untyped-call]

    @property
    def body(self) -> Qwen2Body:
        """Qwen2 without its own head."""
        return self.llm.model.model

    @property
    def dtype(self) -> torch.dtype:
        """Of the body's matrices."""
        return self.speech_embedding.weight.dtype

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.speech_embedding.weight.device

    def keep_in_float32(self) -> None:
        """Raise to float32 what half precision would harm and what costs little: norms and head."""
        self.llm_decoder.float()
        for name, part in self.body.named_modules():
            if name.endswith("norm"):
                part.float()

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """What ``to`` and its kin go through; torch's recurrent layers hook in here likewise."""
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call] # torch gives it no types
        self.tidy()
        return self

    def tidy(self) -> None:
        """Put in order what belongs together, after weights were replaced.

        One tensor has both names of the text embedding, however it was loaded; the later name wins,
        as it does in a copy. ``load_state_dict(assign=True)`` would leave 270 MB that nobody uses.
        """
        self.body.embed_tokens.weight = self.llm.model.lm_head.weight
        self.body.join()

    def embed(self, codes: Tensor) -> Tensor:
        """(N,) int64 to (N, hidden)."""
        text = codes - self.ids.speech_rows
        of_speech = self.speech_embedding(codes.clamp(max=self.ids.speech_rows - 1))
        of_text = self.body.embed_tokens(text.clamp(0, self.sizes.vocab - 1))
        made = torch.where((text < 0)[:, None], of_speech, of_text)
        if self.llm_embedding is None:
            return made
        sign = text - self.sizes.vocab
        of_sign = self.llm_embedding(sign.clamp(0, 1))
        return torch.where((sign >= 0)[:, None], of_sign, made)

    def hidden(self, codes: Tensor, place: Place) -> Tensor:
        """(N,) codes to (N, hidden) float32, their keys and values written to the cache."""
        made: Tensor = self.body(self.embed(codes), place)
        return made

    def logits(self, hidden: Tensor) -> Tensor:
        """(R, hidden) to (R, rows of the head) float32."""
        made: Tensor = self.llm_decoder(hidden.to(self.llm_decoder.weight.dtype))
        return made.float()


class _Causal(nn.Module):
    """The official checkpoint's nesting: ``llm.model.model`` and a tied head that nobody uses."""

    def __init__(self, sizes: LlmSizes) -> None:
        super().__init__()
        self.model = _Tied(sizes)


class _Tied(nn.Module):
    def __init__(self, sizes: LlmSizes) -> None:
        super().__init__()
        self.model = Qwen2Body(sizes)
        self.lm_head = nn.Linear(sizes.hidden, sizes.vocab, bias=False, device="meta")
        self.lm_head.weight = self.model.embed_tokens.weight


def _tidy(model: nn.Module, _missing: object) -> None:
    assert isinstance(model, SpeechLlm)
    model.tidy()
