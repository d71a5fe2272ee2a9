"""The page *Proofs*: one mechanism as stated, proved and measured, and the papers' claims with verdicts."""
