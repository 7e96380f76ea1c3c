"""Does a checkpoint speak here? Three sentences, spoken, heard and judged: the first thing to run.

``python -m streaming.cosyvoice.verify PATH`` is the door.
"""
