"""The flow: speech tokens to mel frames, by solving an equation from noise in a few Euler steps.

``base`` says what a generation's network must do, ``stream`` solves it for many contexts at once
and keeps what was computed, ``pool`` holds that in pages.
"""
