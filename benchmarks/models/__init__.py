"""What CosyVoice's networks cost on this machine's CPU: ``python -m benchmarks.models --json``.

All weights are random: they cost what trained ones do.
"""
