"""The KL divergence between the exact and the released posterior: Theorem 1 of [Zhang16] and its consequences."""
