import { expect } from 'chai'
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
  it('puts a span in the place of the caller’s, and leaves the other headers as they are', () => {
    const req = message({ Accept: '*/*' })
    req.rawHeaders.push('TraceParent', 'old', 'tracestate', 'old=1', 'X-A', '1', 'X-A', '2')
    Object.assign(req.headers, { traceparent: 'old', tracestate: 'old=1' })
    const { rawHeaders } = req
    writeContext(req, { traceId, spanId, traceFlags: 0 })
    const traceparent = `00-${traceId}-${spanId}-00`
    expect(req.headers).to.deep.equal({ Accept: '*/*', traceparent })
    expect(req.rawHeaders).to.equal(rawHeaders)
    expect(rawHeaders).to.deep.equal(['traceparent', traceparent, 'Accept', '*/*', 'X-A', '1', 'X-A', '2'])
  })
})
