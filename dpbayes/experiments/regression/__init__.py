"""Figure 2 of [Zhang16] and beyond: how well private regression weights predict."""
