"""The page *Ledger*."""
