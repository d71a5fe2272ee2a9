"""The curves that an accuracy study compares: how each mechanism predicts at all epsilons."""
