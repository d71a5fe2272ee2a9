"""The page *Bounds*."""
