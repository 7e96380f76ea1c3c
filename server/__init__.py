"""Sockets, protocols, pacing, encoding. It never imports a model."""
