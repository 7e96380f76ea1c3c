"""Version 3's flow: a transformer over mel frames (DiT).

``module`` is the network as the checkpoint names it, computed whole; ``network`` the same weights
made ready for streaming.
"""
