"""The pages, with one folder each: controls, headline, picture and details."""
