"""What can be wrong with a checkpoint folder, each with the words that say what to do.

Knows: the kinds. Does not know: how they are found out, or any wire code (a model that does not
load is a fault of the start, not of a request).
"""

from __future__ import annotations


class CheckpointError(Exception):
    """The folder, or a file of it, cannot be used; the message says why and what helps."""


class NotACheckpoint(CheckpointError):
    """No folder, or one without the yaml that names the generation."""


class MissingFile(CheckpointError):
    """A file that the generation needs is not in the folder."""


class DamagedFile(CheckpointError):
    """A file is empty, cut off, a pointer or a page in place of the file, or no such format."""


class WrongGeneration(CheckpointError):
    """A file of one generation in a folder of the other."""


class WrongShape(CheckpointError):
    """A tensor does not measure what the folder's own configuration says."""


class WrongTensors(CheckpointError):
    """Tensors are missing, or there are some that the network has no place for."""


class Unsupported(CheckpointError):
    """The configuration asks for something that this implementation does not do."""
