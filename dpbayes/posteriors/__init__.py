"""What is believed: Dirichlet rows, Gaussian weights, how far two of them are apart, and how smooth and trimmed ones behave."""
