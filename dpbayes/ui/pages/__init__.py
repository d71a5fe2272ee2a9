"""The pages, a folder each: what a person sets, what the page says first, its picture, and its details."""
