"""The claims of the papers, evaluated: as printed, as certified, and under which assumptions."""
