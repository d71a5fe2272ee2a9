"""How far the released posterior is from the exact one in KL divergence: Theorem 1 of [Zhang16] and what follows."""
