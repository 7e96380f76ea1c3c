"""Sockets, protocols, pacing, encoding. It never imports a model."""

__version__ = "0.1.0"
