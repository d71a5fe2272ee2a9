"""Whether posteriors mean what they say: truths drawn from the prior, and where they lie in what is concluded."""
