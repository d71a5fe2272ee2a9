"""The page *Explore*."""
