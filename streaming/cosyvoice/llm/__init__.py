"""The language model: text ids in, speech tokens out, many contexts in one step.

Knows: ids, K/V, sampling. Does not know: characters, voices, sound, deadlines.
"""
