"""The audits of the private MAP estimate and of its printed form."""
