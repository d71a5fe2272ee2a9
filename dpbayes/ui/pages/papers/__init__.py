"""The page *Papers*."""
