"""Recordings to prompts: a stranger's file in, tokens, mel frames and a speaker embedding out.

Needs numpy, soundfile, soxr, kaldi-native-fbank and onnxruntime, never torch. Decoders and networks
meet a stranger's bytes here, so all of it but ``texts`` and ``spelling`` belongs in a process of
its own (``streaming.engine.prompts``).
"""
