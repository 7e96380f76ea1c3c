"""What is measured from outside: load, audio, text. Never imported by the server."""
