import type { Fields } from './field-values.ts'
import type { LogRecord } from './record.ts'

export const words = [
  'error',
  'Error',
  'warning',
  'timeout',
  'time',
  'out',
  'connection',
  'refused',
  'GET',
  'ok',
  'x',
  '5',
  '503',
]
const odd = [
  'a_b-c',
  '=>',
  '10.0.0.17:443',
  'ÄRGER',
  'größe',
  '连接失败',
  '😀',
  "'; DROP TABLE x; --",
  '"quoted"',
  '\\d+',
  '%_',
  '{"a":1}',
  'е́',
]
const separators = [' ', ' ', ' ', ': ', '/', '_', '  ']

/** Returns lines of three days from `firstNs` on. The lines are the same in each run. */
export function makeLines(firstNs: bigint, count: number): LogRecord[] {
  let seed = 42
  const next = (below: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
    return Math.floor((seed / 2 ** 32) * below)
  }
  const pick = <T>(list: readonly T[], otherwise: T): T => list[next(list.length)] ?? otherwise
  const lines = Array.from({ length: count }, (_, i): LogRecord => {
    const parts = Array.from({ length: 1 + next(7) }, () => [
      pick(next(4) === 0 ? odd : words, 'x'),
      pick(separators, ' '),
    ])
    const pod = next(12)
    // Several lines have the same time, and some differ by a nanosecond.
    const timeNs = firstNs + BigInt(next(700)) * 370_000_000_000n + BigInt(next(2))
    const text = `${parts.flat().join('')}${i % 500 === 7 ? 'needle' : ''}${i % 700 === 3 ? 'y'.repeat(100) : ''}`
    return {
      timeNs,
      log: next(3) === 0 ? text : `${text}\n`,
      namespace: `ns-${pod % 4}`,
      pod: `web-${pod % 6}-5d9c7b8f6-x2x${pod % 6}z`,
      container: pod % 2 === 0 ? 'app' : 'proxy',
      host: `node-${pod % 3}`,
      dockerId: pod === 11 ? '' : `id${pod}`,
      ...(pod % 5 === 0 ? {} : { labels: { app: `web${pod % 2}`, 'a.b/c': 'd' } }),
      // Only lines that testLogStore appends as records have fields.
      ...(i % 500 >= 250 || i % 3 === 0 ? {} : { fields: fieldsOf(next(8)) }),
    }
  })
  return lines
}

const fieldsOf = (kind: number): Fields => ({
  level: ['info', 'Error', 'error', 'warn'][kind % 4] ?? '',
  'http.status': 500 + kind,
  ...(kind % 2 === 0 ? { tag: ['a=b', 'größe "x"', 'time out'].slice(0, 1 + (kind % 3)) } : {}),
  // Elasticsearch accepts none of these as the name of an indexed field.
  ...(kind === 3 ? { '': 'empty', ' ': 'blank', '.': 1, 'a.': true, '.a': ['b', 2], 'a..b': 1.5 } : {}),
})
