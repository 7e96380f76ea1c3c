"""Named speakers of ``spk2info.pt``.

Two kinds are published: a speaker embedding alone (what fine-tuning on one speaker leaves), and
a whole prompt that was saved (its transcript's tokens, its speech tokens and its mel too).
Knows: the official names of entries. Does not know: how a speaker is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from streaming.cosyvoice.checkpoint import weights
from streaming.cosyvoice.folder_errors import DamagedFile
from streaming.cosyvoice.sizes import MEL_BANDS, SPEAKER_SIZE


@dataclass(frozen=True)
class Speaker:
    """One named speaker."""

    embedding: Tensor
    """``(192,)``, float32."""
    text: tuple[int, ...] = ()
    """The prompt's text tokens; version 3's prefix is in them where it was saved with one."""
    speech: tuple[int, ...] = ()
    """The prompt's speech tokens; none without its mel."""
    mel: Tensor | None = None
    """The prompt's mel, ``(frames, 80)``, float32, two frames a token; none without its tokens."""


def read(path: Path) -> dict[str, Speaker]:
    """The speakers by name; none if there is no such file.

    Raises:
        DamagedFile: the file is damaged or holds something else.
    """
    if not path.is_file():
        return {}
    found = weights.unpickle(path)
    if not isinstance(found, dict):
        raise DamagedFile(f"{path} holds a {type(found).__name__}, not speakers by name")
    return {str(name): _speaker(path, str(name), entry) for name, entry in found.items()}


def _speaker(path: Path, name: str, entry: Any) -> Speaker:
    where = f"{path}: speaker {name!r}"
    if not isinstance(entry, Mapping):
        raise DamagedFile(f"{where} is a {type(entry).__name__}, not a set of tensors")
    embedding = next(
        (entry[key] for key in ("embedding", "flow_embedding", "llm_embedding") if key in entry),
        None,
    )
    if not isinstance(embedding, Tensor) or embedding.numel() != SPEAKER_SIZE:
        raise DamagedFile(f"{where} has no embedding of {SPEAKER_SIZE} numbers")
    mel = entry.get("prompt_speech_feat")
    if mel is not None and (not isinstance(mel, Tensor) or mel.shape[-1] != MEL_BANDS):
        raise DamagedFile(f"{where} has a prompt_speech_feat that is no mel of {MEL_BANDS} bands")
    voice = embedding.reshape(-1).float()
    speech = _ids(entry, "flow_prompt_speech_token") or _ids(entry, "llm_prompt_speech_token")
    if mel is None or not speech:
        return Speaker(voice)
    frames = mel.reshape(-1, MEL_BANDS).float()
    tokens = min(len(speech), len(frames) // 2)
    return Speaker(voice, _ids(entry, "prompt_text"), speech[:tokens], frames[: 2 * tokens])


def _ids(entry: Mapping[str, Any], key: str) -> tuple[int, ...]:
    found = entry.get(key)
    return tuple(found.reshape(-1).tolist()) if isinstance(found, Tensor) else ()
