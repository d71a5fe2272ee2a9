"""The page *Compare mechanisms*."""
