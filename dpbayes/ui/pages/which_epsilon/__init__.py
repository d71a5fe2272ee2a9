"""The page *Which epsilon*."""
