"""The page *Robustness*."""
