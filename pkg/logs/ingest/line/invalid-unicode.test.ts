import { expect } from 'chai'
import { defaultLimits as limits } from '../limits.ts'
import type { BatchForm } from '../raw-batch.ts'
import { readBatch } from '../read-batch.ts'

const time = '2020-05-16T16:00:42Z'
const bytes = (...parts: readonly (string | number)[]) =>
  Buffer.concat(parts.map(part => (typeof part === 'string' ? Buffer.from(part) : Buffer.from([part]))))
const read = (form: BatchForm, body: Buffer) =>
  [...readBatch({ ...form, body, limits }).lines].map(({ record, notes }) => [
    record?.log,
    record?.fields ?? {},
    notes,
  ])
const jsonLines: BatchForm = { protocol: 'jsonlines' }
const noted = ['invalid_unicode']

describe('noteInvalidUnicode', () => {
  it('notes lines whose bytes are not UTF-8, and no others of their batch', () => {
    const line = (...log: readonly (string | number)[]) => [`{"time":"${time}","log":"`, ...log, '"}\n']
    const field = [`{"time":"${time}","log":"x","a":["caf`, 0xe9, '"]}']
    expect(read(jsonLines, bytes(...line('caf', 0xe9), ...line('café'), ...field))).to.deep.equal([
      ['caf\ufffd', {}, noted],
      ['café', {}, undefined],
      ['x', { a: ['caf\ufffd'] }, noted],
    ])
  })

  it('keeps a U+FFFD of the sender, without a note', () => {
    const body = bytes(`{"time":"${time}","log":"\ufffd \\ufffd"}`)
    expect(read(jsonLines, body)).to.deep.equal([['\ufffd \ufffd', {}, undefined]])
  })

  it('notes half of a surrogate pair in the text', () => {
    const body = bytes(`{"time":"${time}","log":"\\ud800x"}\n{"time":"${time}","log":"\\ud83d\\ude00"}`)
    expect(read(jsonLines, body).map(([, , notes]) => notes)).to.deep.equal([noted, undefined])
  })

  it('keeps half of a surrogate pair in values, without a note, and replaces it in names', () => {
    const body = bytes(`{"time":"${time}","log":"x","a":["\\udc00"]}`)
    expect(read(jsonLines, body)).to.deep.equal([['x', { a: ['\udc00'] }, undefined]])
    const names = bytes(`{"time":"${time}","log":"x","\\ud800":1,"\\ud801":2,"a":{"b\\udc00":{"c":3}}}`)
    const replaced = { '\ufffd': [1, 2], 'a.b\ufffd.c': 3 }
    expect(read(jsonLines, names)).to.deep.equal([['x', replaced, noted]])
  })

  const places: Readonly<Record<string, readonly (string | number)[]>> = {
    'the name of a field': ['"', 0xe9, '":1'],
    'the origin': ['"kubernetes":{"pod_name":"', 0xe9, '"}'],
    'a label': ['"kubernetes":{"labels":{"a":"', 0xe9, '"}}'],
    'the name of a label': ['"kubernetes":{"labels":{"', 0xe9, '":"a"}}'],
  }
  for (const [where, member] of Object.entries(places)) {
    it(`notes bytes that are not UTF-8 in ${where}`, () => {
      const body = bytes(`{"time":"${time}",`, ...member, '}')
      expect(read(jsonLines, body).map(([, , notes]) => notes)).to.deep.equal([noted])
    })
  }

  it('notes once a text of journald whose bytes are not UTF-8', () => {
    const line = (field: string | number) =>
      bytes(`{"__REALTIME_TIMESTAMP":"1589644842608962","MESSAGE":[99,233],"a":"`, field, '"}')
    expect(read(jsonLines, line('é'))).to.deep.equal([['c\ufffd', { a: 'é' }, noted]])
    expect(read(jsonLines, line(0xe9))).to.deep.equal([['c\ufffd', { a: '\ufffd' }, noted]])
  })

  it('notes bytes in protobuf', () => {
    // A push request of Loki with the stream {} and one entry, whose time is 1 ns after the Unix epoch.
    const body = (text: readonly number[]) =>
      Buffer.concat([Buffer.from('0a0e0a027b7d12080a0210011202', 'hex'), Buffer.from(text)])
    const form: BatchForm = { protocol: 'loki', encoding: 'protobuf' }
    expect(read(form, body([0x78, 0xe9]))).to.deep.equal([['x\ufffd', {}, noted]])
    expect(read(form, body([0xc3, 0xa9]))).to.deep.equal([['é', {}, undefined]])
  })
})
