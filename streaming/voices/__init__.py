"""Voices: what can be asked for, and getting one ready off the path of the others."""
