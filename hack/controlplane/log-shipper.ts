import { closeSync, openSync, readFileSync, readSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { join } from 'node:path'
import { StringDecoder } from 'node:string_decoder'
import { createLineReader, type LogSource } from './log-line-reader.ts'
import { namespace, type Settings } from './settings.ts'

const everyMs = 1_000
const chunkBytes = 256 * 1024

/** Returns the local programs as the containers that they would be in a cluster. */
function sources({ logsDir }: Settings): readonly LogSource[] {
  const inSystem = (container: string) => ({
    file: join(logsDir, `${container}.log`),
    namespace: 'kube-system',
    pod: `${container}-control-plane-0`,
    container,
  })
  const ofKapis = (container: string) => ({
    file: join(logsDir, `${container}.log`),
    namespace,
    pod: 'kapis-control-plane-0',
    container,
  })
  return [
    ...['kube-apiserver', 'etcd', 'kube-controller-manager'].map(inSystem),
    ...['apiserver', 'oauth'].map(ofKapis),
  ]
}

export type Shipper = { readonly stop: () => Promise<void> }

/**
 * Ships the logs of the programs to Kapis until it is stopped. Batches that fail with 429, 503 or
 * without a response are retried.
 *
 * @param token token of a service account with permission to ingest
 */
export function shipLogs(
  settings: Settings,
  front: { readonly url: string; readonly caFile: string; readonly token: string },
): Shipper {
  const { groupDomain } = settings
  const url = new URL(`/kapis/logging.${groupDomain}/v1alpha2/ingest/jsonlines`, front.url)
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: readFileSync(front.caFile) })
  const tails = sources(settings).map(createTail)
  let stopped = false
  let underWay = Promise.resolve()

  async function ship(tail: Tail): Promise<void> {
    for (let lines = tail.read(); lines.length > 0; lines = tail.read()) {
      const code = await post(url, agent, { token: front.token, body: `${lines.join('\n')}\n` })
      if (code === 0 || code === 429 || code >= 500) return tail.keep(lines)
    }
  }

  async function round(): Promise<void> {
    for (const tail of tails) if (!stopped) await ship(tail)
  }

  const timer = setInterval(() => {
    underWay = underWay.then(round)
  }, everyMs)
  return {
    async stop() {
      stopped = true
      clearInterval(timer)
      agent.destroy()
      await underWay
    },
  }
}

type Tail = {
  readonly read: () => readonly string[]
  /** Stores lines that the next `read` returns again. */
  readonly keep: (lines: readonly string[]) => void
}

function createTail(source: LogSource): Tail {
  const toLines = createLineReader(source)
  const decoder = new StringDecoder('utf8')
  const chunk = Buffer.alloc(chunkBytes)
  let at = 0
  let kept: readonly string[] = []
  return {
    read() {
      const lines = kept
      kept = []
      if (lines.length > 0) return lines
      const length = readAt(source.file, chunk, at)
      at += length
      return toLines(decoder.write(chunk.subarray(0, length)), new Date())
    },
    keep(lines) {
      kept = lines
    },
  }
}

/** @returns the number of bytes read; 0 if the file does not exist yet */
function readAt(file: string, chunk: Buffer, at: number): number {
  let fd: number
  try {
    fd = openSync(file, 'r')
  } catch {
    return 0
  }
  try {
    return readSync(fd, chunk, 0, chunk.length, at)
  } finally {
    closeSync(fd)
  }
}

/** Returns the status of the response; 0 without a response. */
function post(url: URL, agent: Agent, { token, body }: { token: string; body: string }): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>()
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' }
  const req = request(url, { method: 'POST', agent, headers, timeout: 10_000 }, res => {
    res.resume()
    res.on('end', () => resolve(res.statusCode ?? 0))
  })
  req.on('timeout', () => req.destroy())
  req.on('error', () => resolve(0))
  req.on('close', () => resolve(0))
  req.end(body)
  return promise
}
