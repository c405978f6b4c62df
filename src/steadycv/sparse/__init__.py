"""Sparse ridge regression."""
