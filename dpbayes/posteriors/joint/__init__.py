"""The joint noise-aware posterior of all rows, by expectation propagation."""
