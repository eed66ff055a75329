"""Make tools in stages: names, descriptions, parameters, then returns (HammerBench 4.2)."""

GROUP = "toolset"
