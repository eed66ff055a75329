-- name: of_release
select s.key, s.kind, s.language from samples s join release_samples r on r.subject = s.key where r.release = ? order by s.key

-- name: landed
select key, kind, language from accepted_samples where build in (select build from latest_builds) order by key

-- name: figures
select * rename (
    n_broken as broken, n_caught as caught, n_still_proved as still_proved, n_still_judged as still_judged, n_intact as intact,
    n_alarms as alarms, alarm_share as false_alarms, alarm_low as alarms_low, alarm_high as alarms_high
) from audit_summary where audit = ?

-- name: grades
select * rename (n_broken as broken, n_intact as intact) from audit_grades where source = ? and model = ?

-- name: arguments
select * rename (n_wrong as wrong, n_wrong_landed as wrong_landed, n_correct as correct) from audit_argument_grades
where source = ? and model = ?
