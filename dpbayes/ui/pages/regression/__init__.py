"""The page *Regression*."""
