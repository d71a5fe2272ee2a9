"""The page *Structure*."""
