-- name: texts
-- The rarer words of each text; the few common ones of each language are taken out of the list, as regrouping words takes memory.
create temp table texts as
select hash(c.key) as node, c.key, c.split, s.language, @masked as text from chosen c join samples s on s.key = c.key

-- name: rarer
create temp table rarer as
with said as (
    select node, split, language, list_distinct(regexp_extract_all(text, '\p{Han}|[\p{L}\p{M}\p{N}]+')) as words from texts
), common as (
    select language, list(word) as words from (
        select language, word from (select language, unnest(words) as word from said)
        join (select language, count(*) as texts from said group by language) using (language)
        group by language, word, texts having count(*) > 0.1 * texts + 10
    ) group by language
)
select node, split, language, list_sort(list_filter(
    s.words, lambda word: not list_contains(coalesce(c.words, []), word)
)) as words
from said s left join common c using (language)

-- name: shared
-- Each text under the hash of its rarer words and of these without each one of them, where two splits share such a hash.
create temp table shared as
with variants as (
    select node, split, hash(language, words) as variant from rarer where len(words) > 1
    union all
    select node, split, hash(language, words[: place - 1] || words[place + 1 :])
    from (select *, unnest(range(1, len(words) + 1)) as place from rarer where len(words) > 1)
)
select node, split, variant from variants
semi join (select variant from variants group by variant having min(split) <> max(split)) using (variant)

-- name: candidates
with met as (
    select variant, split, unnest(min(node, 3)) as node from shared group by variant, split
), pairs as (
    select distinct s.node as subject, m.node as other from shared s join met m on m.variant = s.variant and m.split <> s.split
    where s.split <> (select split from chosen group by split order by count(*) desc, split limit 1)
)
select a.key, a.split, b.key, b.split, a.text, b.text
from pairs p join texts a on a.node = p.subject join texts b on b.node = p.other order by a.key, b.key

-- name: there
select key from samples semi join (select unnest(?::varchar[]) as key) using (key)

-- name: samples
select hash(s.key) as node, 0::bigint as everything, dense_rank() over (order by s.kind, s.language) - 1 as of_kind,
    dense_rank() over (order by s.kind, s.language, s.category) - 1 as of_category
from samples s semi join chosen c on c.key = s.key order by s.key

-- name: masked
-- The first request of a sample with the values of its calls, as they were worded, and all that is quoted or a number masked.
lower(regexp_replace(regexp_replace(
    list_reduce(
        list_filter(
            list_reverse_sort(list_distinct(json_extract_string(s.body, '$.turns[*].calls[*].evidence[*].quote'))),
            lambda quote: length(quote) > 1
        ),
        lambda text, quote: replace(text, quote, '…'), s.request
    ),
    '["“\x{300c}«][^"”\x{300d}»]*["”\x{300d}»]', '…', 'g'), '\d[\d.,:]*', '…', 'g'))

-- name: worlds
-- The world of each task, and how many worlds its environment has here.
with of_world as (
    select s.key, sample_fact(s.body, 'environment') as environment, sample_fact(s.body, 'simulation') as seed from mine s
)
select * from of_world
join (select environment, count(distinct seed) as count from of_world group by environment) using (environment)
where environment <> '' and seed is not null

-- name: of_several_worlds
with mine as (select * from samples semi join (select unnest(?::varchar[]) as key) using (key)), worlds as (
    @worlds
)
select key from worlds where count > 1 order by key

-- name: edges
with parents as (
    select key, unnest(parents) as parent from drafts union all select key, unnest(parents) from samples
), mine as (
    select s.* from samples s semi join chosen c on c.key = s.key
), goals as (
    select key, if(
        list_contains(json_extract_string(body, '$.turns[*].executed'), 'true'),
        to_json([json_extract(body, '$.turns[*].calls[*].tool'), json_extract(body, '$.turns[*].calls[*].arguments')])::varchar,
        nullif(gold::varchar, '[]')
    ) as goal from mine
), texts as (
    select s.key, @masked as text from mine s
), worlds as (
    @worlds
)
select hash(p.key) as one, hash(p.parent) as other from parents p anti join tools t on t.key = p.parent
union all
select hash(key), hash('goal', goal) from goals where goal is not null
union all
select hash(key), hash('text', text) from texts where length(regexp_replace(text, '[^\p{L}]', '', 'g')) > 3
union all
select hash(key), hash('template', 'template=' || sample_fact(body, 'template')) from mine where sample_fact(body, 'template') is not null

union all
select hash(key), hash('world', environment, seed) from worlds where count > 1

-- name: same_tool
union all
select hash(key), hash('tool', tool)
from (select key, unnest(json_extract_string(body, '$.turns[*].calls[*].tool')) as tool from mine)
union all
select hash(m.key), hash('tool', t.name)
from (select key, unnest(json_extract_string(body, '$.withheld[*]')) as tool from mine) m join tools t on t.key = m.tool

-- name: edges_and_tools
@edges @same_tool
