"""What every claim is made of: statement and verdict, bound, truth, formula, axes, counterexample."""
