"""The claims of the [Notes]: sensitivities of the Hellinger score, and mechanisms scaled to them."""
