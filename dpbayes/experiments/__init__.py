"""Mechanisms, data and bounds joined: what would happen if one released, and what a structure costs."""
