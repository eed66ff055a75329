"""Which arguments of a call the words of a request prove, read strictly: amounts, choices, names, and the role of each."""
