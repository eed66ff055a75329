"""The HTML report: what was built, how the checks did, how the models scored."""

from flows.report.page import write_report

__all__ = ["write_report"]
