"""Sound as numbers: joining, chunking, resampling, encoding, containers, loudness.

Pure and synchronous. Knows: samples and bytes. Does not know: sockets, clocks, contexts' text.
"""
