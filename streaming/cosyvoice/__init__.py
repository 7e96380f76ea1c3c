"""The room of CosyVoice's networks: LLM, sampler, flow, vocoder, checkpoint, tokenizer.

Their state is values, and they know nothing of contexts; ``streaming/runners/cosyvoice`` makes
steps of them.
"""
