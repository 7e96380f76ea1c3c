"""The engine and the front ends as processes, and the client the server holds.

A star: the server's process spawns one engine and some front ends and talks to each over the pipes
of its standard input and output. ``client.py`` is the server's side; ``__main__.py`` the others'.
"""
