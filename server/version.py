"""The one place that says which version this is (a test holds pyproject.toml to it)."""

VERSION = "0.1.0"
