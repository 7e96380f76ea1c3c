"""A segment as it was written becomes words to speak, each with the range it came from."""
