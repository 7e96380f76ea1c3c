"""CosyVoice as a runner: LLM, flow and vocoder stepped for many contexts at once."""
