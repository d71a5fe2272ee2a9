"""The page *Network*."""
