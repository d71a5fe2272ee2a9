"""The page *Claims*."""
