"""ComplexEval: a run over a path, call by call, as in the paper or its code.

(ComplexFuncBench 3)
"""
