"""The page *Best noise*."""
