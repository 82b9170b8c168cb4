"""Tests of the segmentation application."""
