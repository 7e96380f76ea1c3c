"""What CosyVoice does on a GPU: ``python -m benchmarks.gpu --help``.

Random weights of the published size: they cost what trained ones do, and nothing is fetched.
"""
