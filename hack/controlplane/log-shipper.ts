import { closeSync, openSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { HttpClient } from '../../pkg/http/client.ts'
import { namespace } from './settings.ts'

// Ships the logs of the programs to Kapis, in documents like those of the Kubernetes filter of
// Fluent Bit. Batches that fail with 429, 5xx or without a response are retried.
// Usage: log-shipper.ts URL CA-FILE LOGS-FOLDER; TOKEN is that of an account that may send logs.

const [url = '', caFile = '', logsDir = ''] = process.argv.slice(2)
const everyMs = 1_000
const chunkBytes = 256 * 1024
const rfc3339 = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)/

/** A log file, and the metadata of the container that would write it in a cluster. */
type Source = { readonly file: string; readonly kubernetes: object }

const sources = [
  ...['kube-apiserver', 'etcd', 'kube-controller-manager'].map(name =>
    toSource('kube-system', name, `${name}-control-plane-0`),
  ),
  ...['apiserver', 'oauth'].map(name => toSource(namespace, name, 'kapis-control-plane-0')),
]
const http = new HttpClient({ ca: readFileSync(caFile, 'utf8'), env: {}, timeoutMs: 10_000 })
const headers = { authorization: `Bearer ${process.env.TOKEN}`, 'content-type': 'application/x-ndjson' }
const tails = sources.map(source => ({ source, at: 0 }))
for (;;) {
  for (const tail of tails) await ship(tail)
  await sleep(everyMs)
}

function toSource(podNamespace: string, container: string, pod: string): Source {
  return {
    file: join(logsDir, `${container}.log`),
    kubernetes: {
      namespace_name: podNamespace,
      pod_name: pod,
      container_name: container,
      host: 'control-plane-0',
      docker_id: `${pod}-${container}`,
      labels: { 'app.kubernetes.io/name': container },
    },
  }
}

async function ship(tail: { readonly source: Source; at: number }): Promise<void> {
  for (;;) {
    const lines = readLines(tail.source.file, tail.at)
    if (lines.length === 0) return
    const body = toDocuments(lines.toString('utf8'), tail.source)
    const sent = http.send(new URL(url), { method: 'POST', headers, body })
    const { status } = await sent.catch(() => ({ status: 0 }))
    if (status === 0 || status === 429 || status >= 500) return
    tail.at += lines.length
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
