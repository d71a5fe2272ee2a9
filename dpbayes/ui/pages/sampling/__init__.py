"""The page *Sampling*."""
