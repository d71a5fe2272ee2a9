"""Mechanisms and data joined: what would happen if one released, and what a structure costs."""
