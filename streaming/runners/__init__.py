"""What executes a batch of steps, behind one protocol."""
