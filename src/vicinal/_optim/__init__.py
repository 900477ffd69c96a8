"""Solvers that several methods share: pure functions of arrays."""
