"""How many sessions a card serves: the real engine loop, scheduler and door, in simulated time.

Only the device is a model: a table of what a step of each stage costs. Text is a length, audio a
count of samples.
"""
