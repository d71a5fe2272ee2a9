"""What is believed: Dirichlet rows, Gaussian weights, and how far two of them are apart; smooth and trimmed ones."""
