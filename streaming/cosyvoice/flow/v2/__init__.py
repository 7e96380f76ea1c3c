"""Version 2's flow: a Conformer that makes frames of tokens, and a causal U-Net.

``conformer`` and ``unet`` are the networks as the checkpoint names them, ``relative`` is how the
Conformer knows distances, ``module`` computes all whole; ``network`` makes the same modules ready
for streaming, where ``memory`` stands between them and the pages.
"""
