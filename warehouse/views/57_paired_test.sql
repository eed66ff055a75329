-- McNemar's exact test: how likely two that are equally good differ at least so much, where just one of them is right so many times.
create or replace macro paired_p_value(only_one, only_other) as least(1, coalesce(2 * list_sum(list_transform(
    range(least(only_one, only_other) + 1), lambda place: exp(
        lgamma(only_one + only_other + 1) - lgamma(place + 1) - lgamma(only_one + only_other - place + 1) - (only_one + only_other) * ln(2)
    )
)), 1));

-- Half of the 95 % interval of a difference of two shares of the same so many samples (paired, Wald).
create or replace macro paired_half(only_one, only_other, samples) as
    1.959963984540054 * sqrt(only_one + only_other - (only_one - only_other) ** 2 / samples) / samples;
