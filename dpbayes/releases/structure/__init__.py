"""A graph that is learnt from a dataset as a release of its own: what is asked, the choice, and the document of it."""
