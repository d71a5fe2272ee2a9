"""The page *Accuracy*."""
