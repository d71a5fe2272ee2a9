"""The Release page: what a release contains and costs, the release, and the history of budgets."""
