"""The flow: speech tokens to mel frames, by solving an equation from noise in a few Euler steps.

``base`` says what a generation's network must do; ``v2`` and ``v3`` are those networks. ``stream``
solves for many contexts at once, whose runs of blocks ``runs`` lays out and ``batch`` puts
together; ``pool`` holds in pages what was computed, and ``attention`` reads it there. ``build``
makes a flow of a checkpoint's numbers.
"""
