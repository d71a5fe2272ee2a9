"""Figure 1 of [Zhang16] and beyond: how well private predictions do as epsilon grows."""
