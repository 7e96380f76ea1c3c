"""``python -m server``: read the settings, set up the logs, serve until told to stop."""

from __future__ import annotations

import os
import sys

import structlog

from server import logs
from server.config import ConfigError, advice, describe, load
from server.listening import unusable
from server.serving import build
from server.version import VERSION
from streaming.engine.preflight import preflight


def main() -> int:
    """The exit status: 0 after a drain, 2 for settings that cannot be used: a model, a port."""
    try:
        settings = load()
    except ConfigError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    fault = unusable(settings.listen) or preflight(settings.engine)
    if fault is not None:
        sys.stderr.write(f"{fault}\n")
        return 2
    logs.configure(settings.log, [entry.key for entry in settings.access.api_keys])
    log = structlog.get_logger("server")
    all_of_them = not logs.for_people(settings.log)
    log.info("starting", version=VERSION, **describe(settings, all_of_them=all_of_them))
    for warning in advice(settings, os.environ):
        log.warning(warning)
    build(settings).run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
