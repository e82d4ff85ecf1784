import { gzipSync } from 'node:zlib'
import { compressSync } from 'snappy'
import { writeVarint } from '../../pkg/protobuf/wire.ts'
import type { LogScene } from './log-scene.ts'

export type LogWire = {
  readonly path: string
  readonly headers: readonly string[]
  readonly body: (log: string) => Buffer
}

/** Returns the protocols for sending a line: the path below ingest, headers and body of each. */
export function logWires({
  mine,
  document,
}: Pick<LogScene, 'mine' | 'document'>): Readonly<Record<string, LogWire>> {
  const otlp = (log: string) => ({
    resourceLogs: [
      {
        resource: {
          attributes: [
            { key: 'k8s.namespace.name', value: { stringValue: mine } },
            { key: 'k8s.pod.name', value: { stringValue: 'web-0' } },
            { key: 'k8s.container.name', value: { stringValue: 'web' } },
          ],
        },
        scopeLogs: [
          {
            logRecords: [
              { timeUnixNano: `${BigInt(Date.now()) * 1_000_000n + 1n}`, body: { stringValue: log } },
            ],
          },
        ],
      },
    ],
  })
  const protobuf = (log: string) => {
    const attribute = (key: string, value: string) => field(1, field(1, key), field(2, field(1, value)))
    const time = Buffer.alloc(9, 0x09)
    time.writeBigUInt64LE(BigInt(Date.now()) * 1_000_000n + 1n, 1)
    const resource = [
      attribute('k8s.namespace.name', mine),
      attribute('k8s.pod.name', 'web-0'),
      attribute('k8s.container.name', 'web'),
    ]
    return field(1, field(1, ...resource), field(2, field(2, time, field(5, field(1, log)))))
  }
  const bulk = (log: string) => bulkOf(document(log))
  return {
    'JSON lines': {
      path: '/jsonlines',
      headers: [],
      body: log => Buffer.from(JSON.stringify(document(log))),
    },
    'JSON lines, gzip': {
      path: '/jsonlines',
      headers: ['content-encoding: gzip', 'content-type: application/x-ndjson'],
      body: log => gzipSync(JSON.stringify(document(log))),
    },
    'a JSON array': {
      path: '/jsonlines',
      headers: ['content-type: application/json'],
      body: log => Buffer.from(JSON.stringify([document(log)])),
    },
    _bulk: {
      path: '/_bulk',
      headers: ['content-type: application/x-ndjson'],
      body: log => Buffer.from(bulk(log)),
    },
    '{index}/_bulk': {
      path: '/logstash-2026.11.21/_bulk',
      headers: [],
      body: log => Buffer.from(bulk(log)),
    },
    'OTLP, JSON': {
      path: '/v1/logs',
      headers: ['content-type: application/json'],
      body: log => Buffer.from(JSON.stringify(otlp(log))),
    },
    'OTLP, protobuf': {
      path: '/v1/logs',
      headers: ['content-type: application/x-protobuf'],
      body: protobuf,
    },
  }
}

/** Encodes a length-delimited protobuf field. */
function field(number: number, ...parts: readonly (Buffer | string)[]): Buffer {
  const bytes = Buffer.concat(parts.map(part => Buffer.from(part)))
  return Buffer.concat([Buffer.from([number * 8 + 2]), writeVarint(bytes.length), bytes])
}

/**
 * Returns a push request of Loki with one line, whose time is a nanosecond after a whole second.
 */
export function lokiWire(namespace: string): LogWire {
  return {
    path: '/loki/api/v1/push',
    headers: ['content-type: application/x-protobuf'],
    body: log => {
      const seconds = writeVarint(Math.floor(Date.now() / 1000))
      const time = Buffer.concat([Buffer.from([0x08]), seconds, Buffer.from([0x10, 0x01])])
      const labels = `{namespace="${namespace}", pod="web-0", container="web", job="shipped"}`
      return compressSync(field(1, field(1, labels), field(2, field(1, time), field(2, log))))
    },
  }
}

/** Formats a line for the _bulk API. */
export function bulkOf(line: object): string {
  return `{"create":{"_index":"logstash-2026.11.21"}}\n${JSON.stringify(line)}\n`
}
