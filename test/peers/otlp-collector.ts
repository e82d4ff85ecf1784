import { once } from 'node:events'
import { createServer } from 'node:http'
import { readFields } from '../../pkg/protobuf/wire.ts'

/** An exported span. IDs are hexadecimal; '' stands for no parent. */
export type CollectedSpan = {
  readonly service: string
  readonly name: string
  readonly kind: 'server' | 'client' | 'other'
  readonly traceId: string
  readonly spanId: string
  readonly parentId: string
  readonly startMs: number
  readonly endMs: number
  readonly attributes: Readonly<Record<string, string | number | boolean>>
  readonly links: readonly string[]
  readonly isError: boolean
}

export type Collector = {
  readonly url: string
  readonly spans: readonly CollectedSpan[]
  /** Returns all received bytes, which a test searches for secrets. */
  readonly bytes: () => Buffer
  /** Sets the status of the responses to all further exports; 200 accepts them. */
  readonly respond: (code: number) => void
  readonly exports: () => number
  readonly stop: () => Promise<void>
}

/** Starts a collector for OTLP over HTTP in protobuf, at /v1/traces. */
export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = []
  const bodies: Buffer[] = []
  let code = 200
  let exports = 0
  const server = createServer(async (req, res) => {
    const body = Buffer.concat(await req.toArray())
    exports++
    if (req.url !== '/v1/traces' || req.headers['content-type'] !== 'application/x-protobuf')
      return void res.writeHead(404).end()
    if (code === 200) {
      bodies.push(body)
      spans.push(...readExport(body))
    }
    res.writeHead(code, { 'content-type': 'application/x-protobuf' }).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    bytes: () => Buffer.concat(bodies),
    respond(given) {
      code = given
    },
    exports: () => exports,
    async stop() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

// Field numbers of opentelemetry/proto/trace/v1/trace.proto.

function readExport(request: Buffer): readonly CollectedSpan[] {
  return messages(request, 1).flatMap(resourceSpans => {
    const [resource = Buffer.alloc(0)] = messages(resourceSpans, 1)
    const service = String(readAttributes(resource, 1)['service.name'])
    return messages(resourceSpans, 2)
      .flatMap(scopeSpans => messages(scopeSpans, 2))
      .map(span => readSpan(span, service))
  })
}

function readSpan(span: Buffer, service: string): CollectedSpan {
  const [status = Buffer.alloc(0)] = messages(span, 15)
  const kind = numberOf(span, 6)
  return {
    service,
    name: messages(span, 5)[0]?.toString('utf8') ?? '',
    kind: kind === 2 ? 'server' : kind === 3 ? 'client' : 'other',
    traceId: messages(span, 1)[0]?.toString('hex') ?? '',
    spanId: messages(span, 2)[0]?.toString('hex') ?? '',
    parentId: messages(span, 4)[0]?.toString('hex') ?? '',
    startMs: numberOf(span, 7) / 1e6,
    endMs: numberOf(span, 8) / 1e6,
    attributes: readAttributes(span, 9),
    links: messages(span, 13).map(link => messages(link, 1)[0]?.toString('hex') ?? ''),
    isError: numberOf(status, 3) === 2,
  }
}

function readAttributes(message: Buffer, number: number): Record<string, string | number | boolean> {
  return Object.fromEntries(
    messages(message, number).map(pair => {
      const [key = Buffer.alloc(0), value = Buffer.alloc(0)] = [...messages(pair, 1), ...messages(pair, 2)]
      return [key.toString('utf8'), readValue(value)]
    }),
  )
}

function readValue(value: Buffer): string | number | boolean {
  for (const field of readFields(value)) {
    if (field.bytes !== undefined) return field.bytes.toString('utf8')
    return field.number === 2 ? field.value !== 0n : Number(field.value)
  }
  return ''
}

function messages(message: Buffer, number: number): readonly Buffer[] {
  return [...readFields(message)].flatMap(field =>
    field.number === number && field.bytes !== undefined ? [field.bytes] : [],
  )
}

function numberOf(message: Buffer, number: number): number {
  const found = [...readFields(message)].find(field => field.number === number)
  return found?.value === undefined ? 0 : Number(found.value)
}
