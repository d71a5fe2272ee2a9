"""Posteriors: Dirichlet rows and Gaussian weights, distances between posteriors, smoothness and trimming."""
