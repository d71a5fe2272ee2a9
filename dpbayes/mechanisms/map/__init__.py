"""A private MAP estimate by the exponential mechanism. [Zhang16] Section 4.2."""
