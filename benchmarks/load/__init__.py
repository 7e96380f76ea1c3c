"""Load on a server that runs, from a separate process: ``python -m benchmarks.load --help``."""
