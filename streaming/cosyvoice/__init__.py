"""The room of CosyVoice's networks: LLM, sampler, flow, vocoder, checkpoint, tokenizer.

They will hold their state as values and know nothing of contexts; ``streaming/runners`` steps them.
"""
