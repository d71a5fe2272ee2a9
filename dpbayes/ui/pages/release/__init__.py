"""The page *Release*."""
