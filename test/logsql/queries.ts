import { fields, groups, makeFieldFilter, makeFilter, numeric, one, summed } from './filters.ts'
import type { Random } from './random.ts'

/** A query, and what can be compared of its result. */
export type TestQuery = {
  readonly query: string
  /** Whether only the number of rows is defined. */
  readonly isCountOnly: boolean
}

function makeFunction(r: Random, name: string, firstNs: bigint): string {
  const field = r.one(numeric)
  const call = one(r, [
    () => 'count()',
    () => `count(${field})`,
    () => `count(${field}, level)`,
    () => `count_uniq(${r.one(fields)})`,
    () => `count_uniq(level, status)`,
    () => `sum(${r.one(summed)})`,
    () => `avg(${r.one(summed)})`,
    () => `min(${r.one(fields)})`,
    () => `max(${r.one(fields)})`,
    () => `histogram(${r.one(['bytes', 'ratio', 'status', 'duration'])})`,
    () => `count(${r.one(['http*', 'b*', 'x*', '*'])})`,
    () => `avg(${r.one(summed)}, ${r.one(summed)})`,
    () => `sum(r*)`,
    () => `${r.one(['min', 'max'])}(${r.one(['status, bytes', 'host*', '_time'])})`,
    () => `count_uniq(${r.one(fields)}) limit ${1 + r.below(6)}`,
  ])()
  return `${call}${r.chance(0.2) ? ` if (${makeFilter(r, 0, firstNs)})` : ''} ${r.one(['as ', ''])}${name}`
}

/** Quantiles of small groups, since VictoriaLogs samples the values of large ones. */
function makeQuantiles(r: Random): string {
  const call = () =>
    r.one([
      `median(${r.one(fields)})`,
      `quantile(${r.one(['0', '0.1', '0.5', '0.99', '1'])}, ${r.one(numeric)})`,
      `quantile(0.9, ${r.one(numeric)}, ${r.one(numeric)})`,
    ])
  return `stats by (namespace, pod) ${call()} as a, ${call()} as b`
}

function makeStats(r: Random, firstNs: bigint): string {
  if (r.chance(0.15)) return makeQuantiles(r)
  const by = r.one([
    '',
    `by (${r.one(groups)}) `,
    `by (${r.one(groups)}, list) `,
    `by (_time:${r.one(['1m', '7s', 'hour', 'day', '1h offset 20m', '1d offset 2h', 'minute', 'second', 'week', 'month', 'year', 'week offset 1d', '1w', '90s offset -20s'])}) `,
    `by (_time:${r.one(['5m', 'hour'])}, ${r.one(groups)}) `,
    'by (_stream) ',
    `by (status:${r.one(['100', '100 offset 50', '0.5', '7'])}, ip:/${r.one(['8', '16', '30', '32'])}) `,
    `(${r.one(groups)}, ratio:0.25) `,
    `by (bytes:${r.one(['10KB', '1000', '333 offset 5'])}) `,
    'by (ip:/24) ',
    'by (ratio:10) ',
    'by (duration:500ms) ',
  ])
  return `stats ${by}${makeFunction(r, 'a', firstNs)}${r.chance(0.6) ? `, ${makeFunction(r, 'b', firstNs)}` : ''}`
}

/** Generates pipes that change each row independently. */
function makeRowPipe(r: Random): string {
  return one(r, [
    () => `filter ${makeFieldFilter(r)}`,
    () =>
      `extract ${r.one(["'GET <path> <code> in <took>ms'", "'file <file>: <why>'", "'user=<user> '", "'<method> '", '\'"code":<code>,\''])}${r.one(['', ' keep_original_fields', ' skip_empty_results'])}`,
    () =>
      `unpack_json${r.one(['', ' fields (code, ok)', ' result_prefix "j_"', ' from _msg fields (user*)', ' keep_original_fields'])}`,
    () => `unpack_logfmt${r.one([' fields (user, duration)', ' fields (msg) result_prefix "l_"'])}`,
    () =>
      `math ${r.one(['bytes / 1024 as kib', 'round(ratio, 0.5) as rounded', '(status + bytes) * 2 - 1 as x', 'abs(100 - status) as y, y % 7 as z', 'duration / 1ms as took', 'max(bytes, status, 1000) as m', 'ceil(ratio) + floor(ratio) as c', 'status default 7 as d', '-bytes ^ 2 as n', 'bytes & 255 as low'])}`,
    () =>
      `format ${r.one(["'<level>:<status>' as f", "'<uc:level> <lc:_msg>' as f", "'<q:_msg>' as f", "'<urlencode:http.path>' as f", "'<hexencode:level>' as f", "'<base64encode:level>' as f", "'<duration_seconds:duration>' as f", "'<duration:bytes>' as f", "'<ipv4:bytes>' as f"])}`,
    () => `len(${r.one(['_msg', 'level', 'list'])}) as n`,
    () => `len ${r.one(['ratio', 'pod'])} n`,
    () => `${r.one(['where ', '', ''])}${r.one(numeric)}:>${r.below(500)}`,
    () =>
      r.one([
        '-error',
        'not level:error',
        '"GET"',
        '!(level:info or status:>300)',
        '{pod="web-1"} foo',
        '!~"GET|foo"',
      ]),
    () =>
      `format ${r.one(["'<hexnumencode:bytes> <hexnumdecode:status>'", "'<hexdecode:status> <hexdecode:ip>'", "'<q:level> <urlencode:_msg>'", "'<uc:_msg>'"])} as f`,
    () => `math round(${r.one(['ratio, -0.5', 'bytes, -7', '-ratio, 0.25'])}) as x`,
    () => `extract if (${makeFieldFilter(r)}) '<method> /api/<api>/users/<plain:id> ' from _msg`,
    () => `extract '<q:level>=<rest>' from ${r.one(['_msg', 'http.path', 'missing'])}`,
    () => `unpack_json if (${makeFieldFilter(r)}) fields (code, user.*) preserve_keys (user.tags)`,
    () =>
      `unpack_json${r.one([' preserve_keys (user)', ' from list', ' fields (level, missing) skip_empty_results', ' keep_original_fields'])}`,
    () =>
      `unpack_logfmt${r.one(['', ' if (level:error)', ' from _msg fields (level, user) keep_original_fields', ' skip_empty_results', ' from http.path result_prefix "p."'])}`,
    () =>
      `${r.one(['math', 'eval'])} ${r.one(['exp(ratio / 100) as e', 'ln(bytes) l', 'min(bytes, status) as m, max(m, 300)', 'status or 3 as o, status xor 255 as x', 'round(ratio) as r, round(bytes, 250) as s', '-status % 7 as n', 'bytes / 0 as inf', 'ip & 255 as host_part', '_time / 1s as sec', '2 ^ 3 ^ 2 as p', '10 - 3 - 2 + 1KB as q', 'ratio * -1.5 default 3 as t', 'missing + 1', 'missing default level default 9 as u', '(status - 200) / (bytes - bytes) as z', 'big + 0 as b', 'duration + 1m30s as later'])}`,
    () =>
      `format ${r.one(["'<time:bytes>' as f", "'<time:status>' as f", "'<urldecode:http.path>' as f", "'<hexdecode:level>' as f", "'<base64decode:status>' as f", "'<duration:status>' as f", "'<duration_seconds:level>' as f", "'<_><level>' as f", "'&lt;<level>&gt; &amp; &quot;' as f", "'<status>' as level keep_original_fields", "'<ip>' as level skip_empty_results", "if (level:error) 'x<bytes>'", "'<ipv4:status>/<ipv4:ip>' as f", "'<q:list>' as list", "'<lc:level>' as level"])}`,
  ])()
}

/** Generates a query. @returns a query whose result does not depend on the order of lines */
export function makeQuery(r: Random, firstNs: bigint): TestQuery {
  const filter = makeFilter(r, 2, firstNs)
  const rowPipes = Array.from({ length: r.below(3) }, () => makeRowPipe(r))
  // After a conditional unpack_json, VictoriaLogs may sort other rows each time.
  const isUnsorted = rowPipes.some(pipe => pipe.startsWith('unpack_json if'))
  const last = isUnsorted
    ? [makeStats(r, firstNs)]
    : one(r, [
        () => [makeStats(r, firstNs)],
        () => [makeStats(r, firstNs)],
        () => [makeStats(r, firstNs), 'sort by (a desc, b)'],
        () => [makeStats(r, firstNs), `filter a:${r.one(['>10', '*', '!""', '<1KB'])}`],
        () => [
          `count() if (${r.one(['level:error', 'status:500', 'users'])}), count(${r.one(fields)}), sum(status), avg(bytes, ratio)`,
        ],
        () => [
          `by (${r.one(groups)}) min(status), max(duration) if (level:error), count_uniq(host, pod) limit 2`,
        ],
        () => [`uniq ${r.one(groups)}, ${r.one(fields)}`],
        () => [`uniq by (${r.one(['namespace', 'pod', '_stream_id'])}) limit ${1 + r.below(4)}`],
        () => [`top ${1 + r.below(5)} ${r.one(groups)}, status hits as many rank as place`],
        () => [`top by (${r.one(fields)}) rank`],
        // Only names: VictoriaLogs counts lines of whole blocks.
        () => ['stats by (status) count() a', `field_names${r.one(['', ' as name'])}`, 'fields name'],
        () => [`keep _time, ${r.one(fields)}, l*`],
        () => [
          `order (${r.one(fields)}, _time, _stream, _msg) desc limit ${1 + r.below(9)} offset ${r.below(9)}`,
        ],
        () => [
          'sort by (bytes desc, _time, _stream, _msg) partition by (level, status) limit 2 rank as place',
        ],
        () => ['sort by (level, _time, _stream, _msg) rank limit 7'],
        () => ['sort by (_time) limit 0 | len(_msg) as n | stats sum(n) as a'],
        () => ['head', 'fields _time'],
        () => [`skip ${r.below(50)}`],
        () => [`uniq by (${r.one(groups)})${r.one(['', ' with hits'])}`],
        () => [`uniq by (${r.one(groups)}, status) hits`],
        () => [
          `uniq by (${r.one(groups)}) filter ${r.one(['e', '"0"', 'web-', 'Error'])}${r.one(['', ' hits'])}`,
        ],
        () => [`(${r.one(groups)}) ${makeFunction(r, 'a', firstNs)}`],
        () => [`top 1000 by (${r.one(groups)}, level)`],
        () => ['fields _time, _msg, namespace, level, http*'],
        () => [`fields ${r.one(fields)}, ${r.one(fields)}`, makeStats(r, firstNs)],
        () => [`keep ${r.one(fields)}`, `top by (${r.one(fields)})`],
        () => [`uniq by (${r.one(fields)}, ${r.one(fields)})`, 'count()'],
        () => [
          `by (namespace, pod) quantile(0.9, ${r.one(numeric)}), median(${r.one(numeric)})`,
          'len(missing)',
        ],
        () => [],
        () => ['sort by (_time desc, _stream, _msg) limit 20'],
        () => ['sort by (bytes desc, _time, _stream, _msg) offset 3 limit 10'],
        () => [`limit ${1 + r.below(30)}`],
        () => [`offset ${r.below(50)}`],
      ])()
  const isCountOnly = last.some(pipe => /^(?:limit|offset|head|skip)\b|^uniq .* limit /.test(pipe))
  return { query: [filter, ...rowPipes, ...last].join(' | '), isCountOnly }
}
