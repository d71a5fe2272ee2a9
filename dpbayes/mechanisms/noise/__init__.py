"""Noise on numbers: its law, what it is scaled to, and how it is shared out."""
