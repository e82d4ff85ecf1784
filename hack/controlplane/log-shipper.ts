import { closeSync, openSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { HttpClient } from '../../pkg/http/client.ts'
import { namespace, type Settings } from './settings.ts'

const everyMs = 1_000
const chunkBytes = 256 * 1024
const rfc3339 = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)/

/** A log file, and the metadata of the container that would write it in a cluster. */
type Source = { readonly file: string; readonly kubernetes: object }

function sources({ logsDir }: Settings): readonly Source[] {
  const source = (podNamespace: string, container: string, pod: string): Source => ({
    file: join(logsDir, `${container}.log`),
    kubernetes: {
      namespace_name: podNamespace,
      pod_name: pod,
      container_name: container,
      host: 'control-plane-0',
      docker_id: `${pod}-${container}`,
      labels: { 'app.kubernetes.io/name': container },
    },
  })
  return [
    ...['kube-apiserver', 'etcd', 'kube-controller-manager'].map(name =>
      source('kube-system', name, `${name}-control-plane-0`),
    ),
    ...['apiserver', 'oauth'].map(name => source(namespace, name, 'kapis-control-plane-0')),
  ]
}

export type Shipper = { readonly stop: () => Promise<void> }

/**
 * Ships the logs of the programs to Kapis until it is stopped, in documents like those of the
 * Kubernetes filter of Fluent Bit. Batches that fail with 429, 5xx or without a response are
 * retried.
 *
 * @param token token of a service account with permission to ingest
 */
export function shipLogs(
  settings: Settings,
  kapis: { readonly url: string; readonly caFile: string; readonly token: string },
): Shipper {
  const url = new URL(`/kapis/logging.${settings.groupDomain}/v1alpha2/ingest/jsonlines`, kapis.url)
  const http = new HttpClient({ ca: readFileSync(kapis.caFile, 'utf8'), env: {}, timeoutMs: 10_000 })
  const headers = { authorization: `Bearer ${kapis.token}`, 'content-type': 'application/x-ndjson' }
  const tails = sources(settings).map(source => ({ source, at: 0 }))
  let stopped = false
  let underWay = Promise.resolve()

  async function ship(tail: { readonly source: Source; at: number }): Promise<void> {
    while (!stopped) {
      const lines = readLines(tail.source.file, tail.at)
      if (lines.length === 0) return
      const body = toDocuments(lines.toString('utf8'), tail.source)
      const { status } = await http.send(url, { method: 'POST', headers, body }).catch(() => ({ status: 0 }))
      if (status === 0 || status === 429 || status >= 500) return
      tail.at += lines.length
    }
  }

  const timer = setInterval(() => {
    underWay = underWay.then(async () => {
      for (const tail of tails) await ship(tail)
    })
  }, everyMs)
  return {
    async stop() {
      stopped = true
      clearInterval(timer)
      await http.close()
      await underWay
    },
  }
}

/** Reads complete lines from an offset, or a part of a long line; empty if there are none. */
function readLines(file: string, at: number): Buffer {
  const chunk = Buffer.alloc(chunkBytes)
  let fd: number
  try {
    fd = openSync(file, 'r')
  } catch {
    return Buffer.alloc(0)
  }
  try {
    const read = chunk.subarray(0, readSync(fd, chunk, 0, chunk.length, at))
    const end = read.lastIndexOf(0x0a) + 1
    return end === 0 && read.length === chunkBytes ? read : read.subarray(0, end)
  } finally {
    closeSync(fd)
  }
}

function toDocuments(text: string, { kubernetes }: Source): string {
  const lines = text.split('\n').filter(line => line !== '')
  const documents = lines.map(line => {
    const time = rfc3339.exec(line.slice(0, 200))?.[0] ?? new Date().toISOString()
    return `${JSON.stringify({ time, log: `${line}\n`, kubernetes })}\n`
  })
  return documents.join('')
}
