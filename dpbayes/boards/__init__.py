"""Boards: what a page shows at every stop of its slider, as one value that a browser, a file or a notebook draws."""
