"""The claims of [Zhang16]: noise on counts and coefficients, the posterior's KL, sampling, the MAP, regression."""
