"""ComplexEval: a run over a multi-step path, call by call, as its paper tells it and as its code
does (ComplexFuncBench 3).
"""
