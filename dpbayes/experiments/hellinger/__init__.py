"""Who is nearest to the exact posterior of a die: the mechanisms of the [Notes] against Laplace noise."""
