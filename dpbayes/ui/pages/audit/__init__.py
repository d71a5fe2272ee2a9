"""The page *Audit*."""
