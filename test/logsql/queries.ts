import type { Random } from './random.ts'

/** A query, and what can be compared of its result. */
export type Asked = {
  readonly query: string
  /** Whether only the number of rows is defined. */
  readonly isCountOnly: boolean
}

const words = [
  'error',
  'Error',
  'GET',
  'foo',
  'foo_bar',
  'bar',
  'ms',
  '404',
  'users',
  'ошибка',
  'größe_1',
  'refused',
] as const
const phrases = [
  'connection refused',
  'cannot open',
  'foo-bar',
  'foo.bar',
  '10.0.1',
  'level=info',
  '"level":"error"',
  'tcp 10.',
  'of 10,',
  'with\\ttabs',
] as const
const fields = [
  'level',
  'status',
  'bytes',
  'duration',
  'ratio',
  'ip',
  'http.path',
  '"trace id"',
  'list',
  'big',
  'host',
  'namespace',
  'pod',
  'labels.app',
  '_msg',
] as const
const numeric = ['status', 'bytes', 'ratio', 'duration', 'big'] as const
// Sums of other fields are undefined: VictoriaLogs adds durations depending on its blocks, and sums
// of `big` exceed the precision of doubles.
const summed = ['status', 'bytes', 'ratio'] as const
const groups = ['level', 'status', 'namespace', 'pod', 'host', 'labels.app', 'container'] as const

const quote = (text: string) => `'${text.replaceAll("'", "\\'")}'`

function makeTest(r: Random): string {
  const word = r.one(words)
  const phrase = quote(r.one(phrases))
  return one(r, [
    () => word,
    () => phrase,
    () => `${word.slice(0, 2 + r.below(3))}*`,
    () => `${phrase}*`,
    () => `*${word.slice(1, 4)}*`,
    () => `i(${word})`,
    () => `i(${word.slice(0, 3)}*)`,
    () =>
      `~${quote(r.one(['err|warn', 'refused.*10\\\\.0\\\\.[12]', '^GET', 'ms$', '(?i)ERROR', '\\\\d{3} in', 'data_1?\\\\d\\\\.db', 'with.tabs', '.*']))}`,
    () => `contains_all(${word}, ${r.one(words)})`,
    () => `contains_any(${word}, ${phrase})`,
    () => `seq(${word}, ${r.one(words)})`,
    () => `len_range(${r.below(40)}, ${30 + r.below(60)})`,
    () => `string_range(${r.one(['A', 'G', 'c'])}, ${r.one(['e', 'g', 'z'])})`,
    () => '*',
    () => `=${phrase}`,
    () => `="${r.one(['GET', 'error:', 'Err', 'foo-bar foo'])}"*`,
  ])()
}

function makeFieldFilter(r: Random): string {
  const field = r.one(fields)
  return one(r, [
    () => `${field}:${makeTest(r)}`,
    () =>
      `${field}:=${r.one(['error', 'info', '200', '503', 'web-1', 'node-2', 'team-3', '"10.1.1.7"', '125ms'])}`,
    () => `${field}:in(error, warn, 200, 404, "web-0", "team-1", "team-2", "/api/users/1")`,
    () => `${field}:""`,
    () => `${field}:*`,
    () =>
      `${r.one(numeric)}:${r.one(['>', '>=', '<', '<='])}${r.one(['200', '404', '50', '50000', '10KB', '1s', '500ms', '62.5', '9007199254740995', '0'])}`,
    () =>
      `${r.one(numeric)}:range${r.one(['[', '('])}${r.below(300)}, ${200 + r.below(50_000)}${r.one([']', ')'])}`,
    () => `ip:ipv4_range(${r.one(['"10.1.0.0/16"', '"10.1.1.0/24"', '10.1.0.5, 10.1.2.9'])})`,
    () => `ip:>=${r.one(['10.1.1.0', '10.1.2.200'])}`,
    () => `level:${r.one(['>', '<', '>=', '<='])}${r.one(['error', 'f', 'warn'])}`,
    () => `${field}:(${makeTest(r)} or ${makeTest(r)})`,
    () => `${r.one(['http*', 'l*', '*', 'labels.*'])}:${r.one(words)}`,
  ])()
}

function one<T>(r: Random, choices: readonly [() => T, ...(() => T)[]]): () => T {
  return r.one(choices)
}

export function makeFilter(r: Random, depth: number): string {
  if (depth === 0 || r.chance(0.35)) {
    return one(r, [
      () => makeTest(r),
      () => makeFieldFilter(r),
      () => makeFieldFilter(r),
      () => makeStream(r),
    ])()
  }
  const inner = () => makeFilter(r, depth - 1)
  return one(r, [
    () => `${inner()} ${inner()}`,
    () => `(${inner()} or ${inner()})`,
    () => `(${inner()} and not (${inner()}))`,
    () => `-(${inner()})`,
    () => `!(${inner()}) ${inner()}`,
  ])()
}

function makeStream(r: Random): string {
  return one(r, [
    () => `{namespace="team-${r.below(10)}"}`,
    () => `{namespace=~"team-[${r.below(5)}-9]",container!="db"}`,
    () => `_stream:{pod in ("web-0", "db-1")}`,
    () => `{namespace!~"team-[0-7]" or pod="cache-2"}`,
    () => `{container not_in (web, db)}`,
    () => `{pod!~"(web-0|db-1)",namespace=~"team-1|team-${r.below(10)}"}`,
  ])()
}

function makeFunction(r: Random, name: string): string {
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
  ])()
  return `${call}${r.chance(0.2) ? ` if (${makeFilter(r, 0)})` : ''} as ${name}`
}

function makeStats(r: Random): string {
  const by = r.one([
    '',
    `by (${r.one(groups)}) `,
    `by (${r.one(groups)}, list) `,
    `by (_time:${r.one(['1m', '7s', 'hour', 'day', '1h offset 20m'])}) `,
    `by (bytes:${r.one(['10KB', '1000', '333 offset 5'])}) `,
    'by (ip:/24) ',
    'by (ratio:10) ',
    'by (duration:500ms) ',
  ])
  return `stats ${by}${makeFunction(r, 'a')}${r.chance(0.6) ? `, ${makeFunction(r, 'b')}` : ''}`
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
  ])()
}

/** Generates a query. @returns a query whose result does not depend on the order of lines */
export function makeQuery(r: Random): Asked {
  const filter = makeFilter(r, 2)
  const rowPipes = Array.from({ length: r.below(3) }, () => makeRowPipe(r))
  const last = one(r, [
    () => [makeStats(r)],
    () => [makeStats(r), 'sort by (a desc, b)'],
    () => [`uniq by (${r.one(groups)})${r.one(['', ' with hits'])}`],
    () => [`uniq by (${r.one(groups)}, status) hits`],
    () => [`top 1000 by (${r.one(groups)}, level)`],
    () => ['fields _time, _msg, namespace, level, http*'],
    () => [],
    () => ['sort by (_time desc, _stream, _msg) limit 20'],
    () => ['sort by (bytes desc, _time, _stream, _msg) offset 3 limit 10'],
    () => [`limit ${1 + r.below(30)}`],
    () => [`offset ${r.below(50)}`],
  ])()
  const isCountOnly = last.some(pipe => /^(?:limit|offset) /.test(pipe))
  return { query: [filter, ...rowPipes, ...last].join(' | '), isCountOnly }
}
