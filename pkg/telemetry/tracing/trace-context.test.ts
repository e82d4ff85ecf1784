import { createTraceState } from '@opentelemetry/api'
import { expect } from 'chai'
import { startLoopback } from '../../apirequest/fixtures.ts'
import { readContext, writeContext } from './trace-context.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const spanId = '00f067aa0ba902b7'
const message = (headers: Record<string, string>) => ({
  headers: { ...headers },
  rawHeaders: Object.entries(headers).flat(),
})

describe('readContext', () => {
  it('parses the trace context of the caller', () => {
    const given = { traceparent: `00-${traceId}-${spanId}-01`, tracestate: 'vendor=1' }
    const found = readContext(message(given))
    expect(found).to.include({ traceId, spanId, traceFlags: 1, isRemote: true })
    expect(found?.traceState?.serialize()).to.equal('vendor=1')
  })

  for (const traceparent of [
    '',
    'x',
    `00-${traceId}-${spanId}`,
    `ff-${traceId}-${spanId}-01`,
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
  ])
    it(`ignores ${JSON.stringify(traceparent)}`, () =>
      expect(readContext(message({ traceparent }))).to.equal(undefined))
})

describe('writeContext', () => {
  const span = { traceId, spanId, traceFlags: 0 }
  const traceparent = `00-${traceId}-${spanId}-00`

  it('replaces the span of the caller, and keeps the position of other headers', () => {
    const rawHeaders = ['TraceParent', 'old', 'X-A', '1', 'Tracestate', 'old=1', 'X-A', '2']
    const req = { headers: { traceparent: 'old', tracestate: 'old=1', 'x-a': '1, 2' }, rawHeaders }
    writeContext(req, span)
    expect(req.headers).to.deep.equal({ traceparent, tracestate: undefined, 'x-a': '1, 2' })
    const left = ['traceparent', traceparent, 'X-A', '1', 'x-kapis-stripped', '', 'X-A', '2']
    expect(rawHeaders).to.deep.equal(left)
    writeContext(req, { ...span, traceFlags: 1 })
    expect(rawHeaders[1]).to.equal(`00-${traceId}-${spanId}-01`)
    expect(rawHeaders).to.have.length(8)
  })

  it('keeps one of several headers of a caller', () => {
    const rawHeaders = ['traceparent', 'a', 'traceparent', 'b']
    writeContext({ headers: {}, rawHeaders }, span)
    expect(rawHeaders).to.deep.equal(['traceparent', traceparent, 'x-kapis-stripped', ''])
  })

  it('appends missing headers, with the state of a continued trace', () => {
    const state = createTraceState('vendor=1')
    const req = { headers: {}, rawHeaders: ['X-A', '1'] }
    writeContext(req, { ...span, traceState: state })
    expect(req.rawHeaders).to.deep.equal(['X-A', '1', 'traceparent', traceparent, 'tracestate', 'vendor=1'])
  })

  it('keeps headers visible in the views that Node.js creates later', async () => {
    let received: object = {}
    const server = await startLoopback((req, res) => {
      writeContext(req, span)
      received = { ...req.headersDistinct }
      res.end()
    })
    await server.get('/', { headers: { tracestate: 'a=1', traceparent: 'x', 'x-last': '1' } })
    await server.close()
    expect(received).to.include.keys('host', 'connection', 'x-last')
  })
})
