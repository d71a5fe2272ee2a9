"""What everything speaks: numbers that are checked, parameters, promises, papers, randomness, array types."""
