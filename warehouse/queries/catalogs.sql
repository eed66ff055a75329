-- name: named
select c.*, n.name, (select count(*) from catalog_tools t where t.catalog = c.key) as tools
from catalogs c join catalog_names n on n.catalog = c.key order by n.name

-- name: kept
select c.*, (select count(*) from catalog_tools t where t.catalog = c.key) as tools from catalogs c where c.key = ?

-- name: listed
select t.key, t.name, t.category, c.method, c.path, c.tags, c.links, c.declared_errors as errors
from catalog_tools c join tools t on t.key = c.tool where c.catalog = ? order by c.position

-- name: plumbing
select parameter, count(*) as tools,
    count(*) filter (list_contains(json_extract_string(parameters, '$.required[*]'), parameter)) as required
from (
    select t.parameters, unnest(t.plumbing) as parameter
    from catalog_tools c join tools t on t.key = c.tool where c.catalog = ?
) group by parameter order by tools desc, parameter
