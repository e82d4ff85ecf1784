import type { Fields } from '../../pkg/logs/field-values.ts'
import type { LogRecord } from '../../pkg/logs/record.ts'
import { createRandom, type Random } from './random.ts'

export const namespaces = Array.from({ length: 10 }, (_, i) => `team-${i}`)
/**
 * Time of the first line in nanoseconds: a recent hour, within the retention of both VictoriaLogs
 * and Kapis.
 */
export const recentNs = BigInt(Math.floor(Date.now() / 3_600_000) * 3600 - 5 * 3600) * 1_000_000_000n
const stepNs = 70_000_000n

const messages: readonly [(random: Random) => string, ...((random: Random) => string)[]] = [
  r => `GET /api/v1/users/${r.below(300)} ${r.one([200, 200, 404, 500])} in ${r.below(900)}ms`,
  r => `connection refused: dial tcp 10.0.${r.below(4)}.${r.below(250)}:5432`,
  r => `error: cannot open file "/var/lib/data_${r.below(20)}.db": permission denied`,
  r =>
    `level=${r.one(['info', 'warn', 'error'])} msg="request done" user=user${r.below(50)} duration=${r.below(5)}.${r.below(100)}s`,
  r =>
    `{"level":"${r.one(['info', 'error'])}","code":${r.below(8) * 100},"user":{"name":"u${r.below(40)}","tags":["a","b${r.below(3)}"]},"ok":${r.one(['true', 'false'])}}`,
  r => `Error ERROR error Ошибка ошибка ${r.below(9)} größe_${r.below(5)} naïve`,
  r => `retry ${r.below(10)} of 10, backoff=${r.below(60)}s, size ${r.below(99)}KiB`,
  r => `foo-bar foo_bar foo.bar ${r.one(['foo', 'bar', 'foobar', 'fooo'])} end`,
  () => 'line with\ttabs and\nbreaks',
]

/** Generates lines of ten namespaces that contain everything that filters can match. */
export function makeLines(count: number, seed: number, firstNs = recentNs): readonly LogRecord[] {
  const random = createRandom(seed)
  return Array.from({ length: count }, (_, i): LogRecord => {
    const namespace = namespaces[random.below(namespaces.length)] ?? ''
    const app = random.one(['web', 'db', 'cache'])
    const fields = makeFields(random)
    return {
      timeNs: firstNs + BigInt(i) * stepNs + BigInt(random.below(50) * 1_000_001),
      log: random.one(messages)(random),
      ...{ namespace, pod: `${app}-${random.below(3)}`, container: app },
      ...{ host: `node-${random.below(4)}`, dockerId: '' },
      labels: { app, 'app.kubernetes.io/part-of': `shop-${random.below(2)}` },
      ...(fields === undefined ? {} : { fields }),
    }
  })
}

function makeFields(random: Random): Fields | undefined {
  if (random.chance(0.2)) return undefined
  return {
    level: random.one(['info', 'warn', 'error', 'Error']),
    ...(random.chance(0.7) ? { status: random.one([200, 201, 404, 500, 503]) } : {}),
    ...(random.chance(0.6) ? { bytes: random.below(100_000) } : {}),
    ...(random.chance(0.5) ? { duration: `${random.below(2000)}ms` } : {}),
    ...(random.chance(0.4) ? { ratio: random.below(1000) / 8 } : {}),
    ...(random.chance(0.3) ? { ip: `10.1.${random.below(3)}.${random.below(255)}` } : {}),
    ...(random.chance(0.3)
      ? { 'http.path': `/api/${random.one(['users', 'carts', 'items'])}/${random.below(9)}` }
      : {}),
    ...(random.chance(0.2) ? { 'trace id': `t-${random.below(500)}` } : {}),
    ...(random.chance(0.2) ? { list: ['error', `x${random.below(4)}`] } : {}),
    ...(random.chance(0.1) ? { big: 9_007_199_254_740_993n + BigInt(random.below(9)) } : {}),
  }
}
