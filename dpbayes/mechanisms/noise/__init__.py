"""Noise on numbers: its distribution, its scale, and its division among sets of nodes."""
