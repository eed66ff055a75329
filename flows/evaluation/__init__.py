"""Evaluation: candidate models asked on a release, their answers scored and graded."""
