"""``python -m streaming.engine engine|text|prompts SETTINGS``: a child process of the server.

SETTINGS is ``EngineSettings`` as JSON. Not for people: it speaks batches of messages on its
standard streams, and ends when they close.
"""

from __future__ import annotations

import signal
import sys

if __name__ == "__main__":
    # Ctrl-C reaches the whole group; the parent drains first and then lets its children go.
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    import logging

    import msgspec

    from streaming.config import EngineSettings
    from streaming.engine.notes import NoteHandler, note_error

    sys.excepthook = lambda _, error, __: note_error("child_crashed", error)
    logging.basicConfig(handlers=[NoteHandler()], level=logging.INFO)

    kind, text = sys.argv[1:]
    settings = msgspec.json.decode(text, type=EngineSettings)
    if kind == "engine":
        from streaming.engine.worker import run_engine

        run_engine(settings)
    elif kind == "check":
        from streaming.engine.preflight import run_check

        sys.exit(run_check(settings))
    elif kind == "prompts":
        from streaming.engine.prompts import run_prompts

        run_prompts(settings)
    else:
        from streaming.engine.front import run_text

        run_text(settings)
