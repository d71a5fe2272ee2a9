"""Releases for one die: the throws of a table with one column."""
