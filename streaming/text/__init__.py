"""Text that is still arriving becomes segments: pure, without clock, process or model."""
