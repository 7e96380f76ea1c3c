"""The command ``cosystream``: what it is asked, and how its errors are told.

Knows: exit codes (0 done, 1 the server or connection failed, 2 asked wrongly, 130 interrupted).
Does not know: how anything is carried out; what does is loaded when it is needed.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Sequence

from cosystream.cli.arguments import parse
from cosystream.cli.usage import Usage
from cosystream.errors import CosystreamError, MissingExtra

EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    arguments = parse(sys.argv[1:] if argv is None else argv)
    logging.basicConfig(format="cosystream: %(message)s", level=logging.WARNING)
    try:
        arguments.run(arguments)
    except (Usage, MissingExtra) as wrong:
        return _tell(wrong, EXIT_USAGE)
    except CosystreamError as failed:
        return _tell(failed, EXIT_FAILED)
    except BrokenPipeError:
        return _mute_stdout()
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    return 0


def _tell(error: Exception, code: int) -> int:
    with contextlib.suppress(BrokenPipeError):  # then there is nobody to tell
        print(f"cosystream: {error}", file=sys.stderr)
    return code


def _mute_stdout() -> int:
    """Whoever read our output has gone: leave without a second error when Python flushes it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return EXIT_FAILED
