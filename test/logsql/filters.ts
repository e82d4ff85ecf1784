import type { Random } from './random.ts'
import { makeTimeFilter } from './times.ts'

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
export const fields = [
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
export const numeric = ['status', 'bytes', 'ratio', 'duration', 'big'] as const
// Sums of other fields are undefined: VictoriaLogs adds durations depending on its blocks, and sums
// of `big` exceed the precision of doubles.
export const summed = ['status', 'bytes', 'ratio'] as const
export const groups = ['level', 'status', 'namespace', 'pod', 'host', 'labels.app', 'container'] as const

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
    () => `exact(${phrase}${r.one(['', '*'])})`,
    () => `re(${phrase})`,
    () => `!=${phrase}`,
    () => `!~${quote(r.one(['err|warn', '^$', '[0-9]+ms', '(?i)get']))}`,
    () => `i(${r.one(['*', '""', phrase, `${phrase}*`])})`,
    () => `len_range(${r.one(['0', '0x10', '1_0'])}, ${r.one(['inf', '0b1000000', '4'])})`,
    () => `${r.one(['in', 'contains_all', 'contains_any', 'seq'])}()`,
    () => `${r.one(['in', 'contains_all', 'contains_any'])}(*)`,
    () => `seq(${word}, "", ${phrase})`,
    () => `contains_any("", ${word})`,
    () => `string_range("", ${r.one(['M', '"l "', '1'])})`,
    () => `${r.one(['`', '"'])}${r.one(words)}${r.one(['`', '"'])}`.replace(/^(.)(.*).$/, '$1$2$1'),
    () => `""*`,
  ])()
}

export function makeFieldFilter(r: Random): string {
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
    () => `ip:ipv4_range("10.1.1.${r.below(250)}")`,
    () => `ip:range${r.one(['[', '('])}10.1.0.9, 10.1.2.0${r.one([']', ')'])}`,
    () =>
      `${r.one(numeric)}:range${r.one(['[', '('])}${r.one(['-inf', '0x1F4', '1KiB', '300ms', '1e3'])}, ${r.one(['inf', '1MB', '2s', '50_000', '9007199254740994'])}${r.one([']', ')'])}`,
    () => `${field}:len_range(${r.below(4)}, ${3 + r.below(5)})`,
    () => `${field}:string_range(${r.one(['1', '2', 'a', 't'])}, ${r.one(['3', 'f', 'w'])})`,
    () => `${field}:${r.one(['!', '-', 'not '])}${r.one(words)}`,
    () => `${field}:(${makeTest(r)} !${r.one(words)} or ="")`,
    () => `${field}:>${r.one(['"b"', '"2"', 'team-4', '"[\\"error"', '1.5'])}`,
    () => `level:${r.one(['>', '<', '>=', '<='])}${r.one(['error', 'f', 'warn'])}`,
    () => `${field}:(${makeTest(r)} or ${makeTest(r)})`,
    () => `${r.one(['http*', 'l*', '*', 'labels.*'])}:${r.one(words)}`,
  ])()
}

export function one<T>(r: Random, choices: readonly [() => T, ...(() => T)[]]): () => T {
  return r.one(choices)
}

export function makeFilter(r: Random, depth: number, firstNs: bigint): string {
  if (depth === 0 || r.chance(0.35)) {
    return one(r, [
      () => makeTest(r),
      () => makeFieldFilter(r),
      () => makeFieldFilter(r),
      () => makeStream(r),
      () => makeTimeFilter(r, firstNs),
    ])()
  }
  const inner = () => makeFilter(r, depth - 1, firstNs)
  return one(r, [
    () => `${inner()} ${inner()}`,
    () => `(${inner()} or ${inner()})`,
    () => `(${inner()} and not (${inner()}))`,
    () => `-(${inner()})`,
    () => `!(${inner()}) ${inner()}`,
    () => `${inner()} AND ${inner()} # and a comment\n`,
    () => `(NOT (${inner()}) OR ${inner()})`,
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
    () => `{pod=~"(web|db)-[0${r.below(3)}]"}`,
    () => `_stream:{namespace=~".*-[1-4]",pod!~"web.*|.*-2"}`,
    () => `{container=~"w.+" or container=~"D?b",namespace!="team-3"}`,
    () => `{pod=~"eb-1"}`,
    () =>
      `{${r.one(['missing', 'pod', 'level'])}${r.one(['=', '!=', '=~', '!~'])}"${r.one(['', 'x', 'w.*'])}"}`,
  ])()
}
