"""What other programs make of our networks, in an environment of its own: `make interchange`."""
