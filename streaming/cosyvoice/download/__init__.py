"""Fetches a published CosyVoice checkpoint: ``python -m streaming.cosyvoice.download cosyvoice3``.

A command that a person runs, never the server: nothing is fetched behind anybody's back. It needs
neither torch nor a hub's own library.
"""
