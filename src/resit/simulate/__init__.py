"""The whole path on data and people that it makes: for teaching, for tests, and to choose votes and bins beforehand."""
