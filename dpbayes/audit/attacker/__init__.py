"""Simulated attackers, who infer a table or the loss of a mechanism from releases."""
