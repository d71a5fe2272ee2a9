"""The claims of [Dimitrakakis14]: robustness of posteriors, and answers to an attacker's questions."""
