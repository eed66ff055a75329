"""External information: an argument that the user only points at, and the message that holds it
(HammerBench 4.2.4).
"""

GROUP = "external"
