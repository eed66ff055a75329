"""Making tools in stages: names, then descriptions, then parameters, then returns (HammerBench
4.2).
"""

GROUP = "toolset"
