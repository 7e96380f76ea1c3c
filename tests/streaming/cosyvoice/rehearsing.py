"""Models that are loaded without a rehearsal: random networks never know an end."""

from unittest import mock

from streaming.runners.cosyvoice.rehearsal import Rehearsal


def unrehearsed():
    """Meanwhile a model that is loaded speaks to nobody first; a crowd of them takes seconds."""
    return mock.patch.object(Rehearsal, "run")
