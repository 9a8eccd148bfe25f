"""How a new test set is made, from candidates to release. Each step is a function of tables."""
