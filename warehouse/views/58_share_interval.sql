-- The bounds between which a share lies with 95 % confidence (Wilson), of `met` out of `whole`; null where there is nothing.
create or replace macro share_interval(met, whole) as case when whole > 0 then {
    'low': greatest(0, (met + 1.920729410347 - 1.959963984540054 * sqrt(met * (whole - met) / whole + 0.9603647051735)) / (whole + 3.841458820694)),
    'high': least(1, (met + 1.920729410347 + 1.959963984540054 * sqrt(met * (whole - met) / whole + 0.9603647051735)) / (whole + 3.841458820694))
} end;
