"""Differentially private Bayesian inference on Bayesian networks."""
