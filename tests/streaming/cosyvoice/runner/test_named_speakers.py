"""Named speakers of ``spk2info.pt``, of both published kinds: an embedding, or a whole prompt."""

import shutil

import numpy as np
import pytest
import torch
from cosyvoice_rig import ENGLISH, Rig, alone, load, settled

from streaming.cosyvoice.prompt import texts
from streaming.messages import Finished
from streaming.runners.cosyvoice.prompts import Prompts


def saved(runner, before):
    """The English starter voice as the official code saves a prompt; ``before`` its transcript."""
    speech = runner._speech
    speech.voices.load(ENGLISH)
    part = speech.voices._by_id[ENGLISH]
    words = before + part.spoken.transcript
    return {
        "prompt_text": torch.tensor([speech.models.tokenizer.encode(words)]),
        "prompt_speech_feat": part.flow.prompt.mel[None],
        "flow_prompt_speech_token": torch.tensor([part.flow.prompt.tokens]),
        "llm_prompt_speech_token": torch.tensor([part.flow.prompt.tokens]),
        "llm_embedding": part.flow.prompt.embedding[None],
        "flow_embedding": part.flow.prompt.embedding[None],
    }


@pytest.fixture(scope="module")
def named(runner, generation, checkpoint, tmp_path_factory):
    """A runner whose checkpoint has speakers."""
    folder = tmp_path_factory.mktemp("speakers") / generation
    shutil.copytree(checkpoint, folder)
    embeddings = torch.randn(2, 192, generator=torch.Generator().manual_seed(1))
    speakers = {
        "anna": {"embedding": embeddings[:1]},
        "eva": {"embedding": embeddings[1]},
        "saved": saved(runner, texts.cross_lingual(generation)),
        "bare": saved(runner, ""),
    }
    torch.save(speakers, folder / "spk2info.pt")
    return load(folder, tmp_path_factory.mktemp("voices"))


def test_they_are_listed_under_their_names(named):
    assert {"anna", "eva", "saved", "bare"} <= {voice.id for voice in named.ready(4).voices}


def test_one_that_is_an_embedding_alone_speaks_with_it(named):
    one, again, other = (alone(named, "Hello.", voice=name) for name in ("anna", "anna", "eva"))
    assert np.abs(one).max() > 100
    assert np.array_equal(one, again)
    assert len(one) == len(other)  # to the LLM a voice is its recording, and there is none
    assert np.abs(one - other).max() > 100
    assert settled(named)


@pytest.mark.parametrize("name", ["saved", "bare"])
def test_a_saved_prompt_is_its_recording_to_both_networks(named, name):
    """Also where it was saved without the words that version 3 needs before them."""
    models, voices = named._speech.models, named._speech.voices
    for voice in (name, ENGLISH):
        voices.load(voice)
    ours, recording = voices._by_id[name], voices._by_id[ENGLISH]
    prompts = Prompts(models.tokenizer, models.generation)
    said = len(models.tokenizer.encode(recording.spoken.transcript))
    for tokens in (said, said // 2, said // 2 - 1):
        for instruct in (None, "Speak slowly."):
            one, other = (
                prompts.of(part.spoken, instruct, "en", tokens) for part in (ours, recording)
            )
            assert one == other
    assert ours.flow.prompt.tokens == recording.flow.prompt.tokens
    assert torch.equal(ours.flow.prompt.mel, recording.flow.prompt.mel)


def test_it_speaks_too(named):
    rig = Rig(named)
    rig.speak(1, "Hello.", voice="saved")
    assert rig.run(1).of(1, Finished)
    assert np.abs(rig.pcm(1)).max() > 100
    assert settled(named)
