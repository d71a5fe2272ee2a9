"""The basis of all packages: checked numbers, parameters, guarantees, papers, randomness, array types."""
