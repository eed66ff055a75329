"""External information: an argument only pointed at, and its message (HammerBench 4.2.4)."""

GROUP = "external"
