import { expect } from 'chai'
import { writeVarint } from '../../protobuf/wire.ts'
import { parseStatus } from './parse-status.ts'

const field = (number: number, bytes: Buffer | string) =>
  Buffer.concat([Buffer.from([number * 8 + 2]), writeVarint(Buffer.byteLength(bytes)), Buffer.from(bytes)])
const message = 'pods "web-0" not found'
const details = { name: 'web-0', kind: 'pods' }

function encode(kind: string): Buffer {
  const status = Buffer.concat([
    ...[field(1, ''), field(2, 'Failure'), field(3, message), field(4, 'NotFound')],
    ...[field(5, Buffer.concat([field(1, 'web-0'), field(3, 'pods')])), Buffer.from([6 * 8])],
    writeVarint(404),
  ])
  const type = Buffer.concat([field(1, 'v1'), field(2, kind)])
  return Buffer.concat([Buffer.from('k8s\0'), field(1, type), field(2, status), field(3, ''), field(4, '')])
}

describe('parseStatus', () => {
  it('parses JSON, with any content in its strings', () => {
    const status = { kind: 'Status', apiVersion: 'v1', message, reason: 'NotFound', details, code: 404 }
    expect(parseStatus(Buffer.from(JSON.stringify(status, null, 2)))).to.deep.equal({
      ...{ message, reason: 'NotFound', details, code: 404 },
    })
  })

  it('omits fields of another type: an aggregated API may return anything', () => {
    const status = { kind: 'Status', message: { toString: 1 }, reason: [], details: 'x', code: '404' }
    expect(parseStatus(Buffer.from(JSON.stringify(status)))).to.deep.equal({})
  })

  it('parses protobuf', () => {
    expect(parseStatus(encode('Status'))).to.deep.equal({ message, reason: 'NotFound', details, code: 404 })
  })

  const others: Readonly<Record<string, Buffer>> = {
    'another kind': Buffer.from('{"kind":"Pod","apiVersion":"v1"}'),
    'another kind in protobuf': encode('Pod'),
    'truncated protobuf': encode('Status').subarray(0, 20),
    'a page': Buffer.from('<html>pods "web-0" not found</html>'),
    'a text': Buffer.from(message),
    nothing: Buffer.from(''),
    null: Buffer.from('null'),
  }
  for (const [what, body] of Object.entries(others))
    it(`finds no Status in ${what}`, () => expect(parseStatus(body)).to.equal(undefined))
})
