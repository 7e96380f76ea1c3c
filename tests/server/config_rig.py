"""Settings out of a file that a test writes, and what is said of those that cannot be."""

from pathlib import Path

import pytest

from server.config import ConfigError, load

PROJECT = Path(__file__).resolve().parents[2]


def written(tmp_path, text):
    path = tmp_path / "my.toml"
    path.write_text(text, encoding="utf-8")
    return ["--config", str(path)]


def message_of(argv=(), environ=None):
    with pytest.raises(ConfigError) as caught:
        load(list(argv), environ or {})
    return str(caught.value)
