"""What a child process has to say to people: one JSON object a line on standard error.

The parent reads these lines and logs them as its own. Does not know: how they are shown.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
from typing import Any


def note(event: str, *, level: str = "info", **fields: Any) -> None:
    """Write one line; ``event`` says what happened, ``fields`` with which values."""
    line = json.dumps({"event": event, "level": level, **fields}, default=str)
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


def note_error(event: str, error: BaseException, **fields: Any) -> None:
    """Write the error with its traceback, on one line."""
    trace = "".join(traceback.format_exception(error))
    note(event, level="error", error=repr(error), traceback=trace, **fields)


class NoteHandler(logging.Handler):
    """What modules say through ``logging`` becomes such lines too."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write the record as one line."""
        level = record.levelname.lower() if record.levelno > logging.DEBUG else "debug"
        fields = {"logger": record.name}
        if record.exc_info is not None and record.exc_info[1] is not None:
            note_error(record.getMessage(), record.exc_info[1], **fields)
        else:
            note(record.getMessage(), level=level, **fields)
