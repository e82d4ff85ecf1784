import { closeSync, openSync, writeSync } from 'node:fs'

const levels = ['INFO', 'INFO', 'INFO', 'WARN', 'ERROR', 'DEBUG']
const modules = ['http', 'grpc', 'db', 'cache', 'queue']
const verbs = ['GET', 'POST', 'PUT', 'DELETE']
const resources = ['orders', 'users', 'items', 'carts', 'payments']
const endings = [
  'ok',
  'connection refused by upstream',
  'cache miss for key',
  'timeout after retry',
  'done in time',
]

const batchLines = 2000
export const daySeconds = 86_400

/** A file of lines in batches, which are the bodies of `_bulk` requests. */
export type LineFile = {
  readonly file: string
  readonly lines: number
  readonly batches: readonly { readonly offset: number; readonly length: number }[]
}

/**
 * Writes lines of some 200 bytes, of 999 pods in 40 namespaces, distributed over the day before
 * `endSeconds`. The same arguments produce the same lines. Eleven lines contain the word
 * `kernelpanic`.
 */
export function writeLines(
  file: string,
  count: number,
  endSeconds: number,
  linesOfBatch = batchLines,
): LineFile {
  const random = createRandom(8)
  const pick = (list: readonly string[]): string => list[random(list.length)] ?? ''
  const rareEvery = Math.floor(count / 11)
  const batches: { offset: number; length: number }[] = []
  const descriptor = openSync(file, 'w')
  let offset = 0
  for (let at = 0; at < count; at += linesOfBatch) {
    const lines: string[] = []
    for (let i = at; i < Math.min(at + linesOfBatch, count); i += 1) {
      const ms = (endSeconds - daySeconds) * 1000 + (i * daySeconds * 1000) / count
      const time = `${new Date(ms).toISOString().slice(0, -1)}${String(i % 1000).padStart(3, '0')}456Z`
      const pod = random(999)
      const hex = () =>
        random(2 ** 32)
          .toString(16)
          .padStart(8, '0')
      const rare = i % rareEvery === rareEvery >>> 1 ? ' kernelpanic' : ''
      const log = `${time} ${pick(levels)} [${pick(modules)}] request ${hex()}${hex()} ${pick(verbs)} /api/v1/${pick(resources)}/${random(1e6)} status=${200 + random(4) * 100} duration=${random(2000)}ms user=u${random(5000)} trace=${hex()} ${pick(endings)}${rare}\\n`
      const kubernetes = `"namespace_name":"ns-${pod % 40}","pod_name":"app-${pod}-5d9c7b8f6-x2x4z","container_name":"app","host":"node-${pod % 100}","docker_id":"${hexOf(pod)}"`
      lines.push(
        `{"create":{"_index":"fluentbit-${time.slice(0, 10).replaceAll('-', '.')}"}}\n{"@timestamp":"${time}","time":"${time}","log":"${log}","kubernetes":{${kubernetes}}}\n`,
      )
    }
    const bytes = Buffer.from(lines.join(''))
    writeSync(descriptor, bytes)
    batches.push({ offset, length: bytes.length })
    offset += bytes.length
  }
  closeSync(descriptor)
  return { file, lines: count, batches }
}

function hexOf(pod: number): string {
  return (pod * 2_654_435_761).toString(16).padStart(16, '0').repeat(4).slice(0, 64)
}

/** Returns a generator of whole numbers below a bound, the same in each run. */
function createRandom(start: number): (below: number) => number {
  let seed = start
  return below => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((seed / 2 ** 32) * below)
  }
}
