"""The engine: text, voices, contexts, scheduler, models. It never opens a socket."""
