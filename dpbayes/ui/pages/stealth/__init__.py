"""The page *Stealth*."""
