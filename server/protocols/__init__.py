"""One thin adapter a wire protocol, each a translation to and from the same session calls."""
