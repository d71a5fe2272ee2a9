"""The page *Data*."""
