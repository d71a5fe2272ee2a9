"""The page *Hellinger*."""
