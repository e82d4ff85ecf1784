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
  it('reads what the caller says of its trace', () => {
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
    it(`takes ${JSON.stringify(traceparent)} for none`, () =>
      expect(readContext(message({ traceparent }))).to.equal(undefined))
})

describe('writeContext', () => {
  const span = { traceId, spanId, traceFlags: 0 }
  const traceparent = `00-${traceId}-${spanId}-00`

  it('puts a span in the place of the caller’s, and leaves the other headers where they are', () => {
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

  it('leaves one of several that a caller has sent', () => {
    const rawHeaders = ['traceparent', 'a', 'traceparent', 'b']
    writeContext({ headers: {}, rawHeaders }, span)
    expect(rawHeaders).to.deep.equal(['traceparent', traceparent, 'x-kapis-stripped', ''])
  })

  it('adds what was not there behind all others, with the state of a trace that is continued', () => {
    const state = createTraceState('vendor=1')
    const req = { headers: {}, rawHeaders: ['X-A', '1'] }
    writeContext(req, { ...span, traceState: state })
    expect(req.rawHeaders).to.deep.equal(['X-A', '1', 'traceparent', traceparent, 'tracestate', 'vendor=1'])
  })

  it('hides no header from the views that node makes later', async () => {
    let seen: object = {}
    const front = await startLoopback((req, res) => {
      writeContext(req, span)
      seen = { ...req.headersDistinct }
      res.end()
    })
    await front.get('/', { headers: { tracestate: 'a=1', traceparent: 'x', 'x-last': '1' } })
    await front.close()
    expect(seen).to.include.keys('host', 'connection', 'x-last')
  })
})
