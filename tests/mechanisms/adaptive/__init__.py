"""Adaptive releases."""
