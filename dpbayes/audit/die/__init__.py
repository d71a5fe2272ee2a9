"""The audits of the mechanisms for one die: every table, every neighbour."""
