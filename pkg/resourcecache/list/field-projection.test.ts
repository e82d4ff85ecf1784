import { expect } from 'chai'
import { thrownFields } from '../../apierrors/fixtures.ts'
import { entry, servedNodes } from '../fixtures.ts'
import { CachedObject } from '../store/cached-object.ts'
import { createFieldsForm } from './field-projection.ts'
import { objectBytes } from './list-body.ts'

const sample = entry('a', {
  labels: { 'a.b/c': 'd', e: 'f' },
  status: {
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Disk', status: 'False' },
    ],
    capacity: { cpu: '4', memory: '8Gi' },
  },
})

describe('createFieldsForm', () => {
  const table: readonly [string, object][] = [
    ['metadata.name', { metadata: { name: 'a' } }],
    ['.metadata.name,kind', { kind: 'Node', metadata: { name: 'a' } }],
    ['metadata.name, apiVersion', { apiVersion: 'v1', metadata: { name: 'a' } }],
    ['status.capacity', { status: { capacity: { cpu: '4', memory: '8Gi' } } }],
    ['status.capacity.*', { status: { capacity: { cpu: '4', memory: '8Gi' } } }],
    ['status.conditions.type', { status: { conditions: [{ type: 'Ready' }, { type: 'Disk' }] } }],
    ['status.conditions[*].type', { status: { conditions: [{ type: 'Ready' }, { type: 'Disk' }] } }],
    ['status.conditions[1]', { status: { conditions: [{ type: 'Disk', status: 'False' }] } }],
    ["metadata.labels['a.b/c']", { metadata: { labels: { 'a.b/c': 'd' } } }],
    ['metadata.selfLink', { metadata: { selfLink: '/api/v1/nodes/a' } }],
    ['metadata.name.first', {}],
    ['spec.nothing', {}],
    ['__proto__', {}],
    ['constructor.name', {}],
    ["metadata.labels['a.b/c'],kind", { kind: 'Node', metadata: { labels: { 'a.b/c': 'd' } } }],
    ["metadata.labels['e,f'],,kind", { kind: 'Node' }],
  ]
  for (const [fields, expected] of table) {
    it(`projects ${fields} to ${JSON.stringify(expected)}`, () => {
      expect(JSON.parse(objectBytes(sample, createFieldsForm(fields)).toString())).to.deep.equal(expected)
    })
  }

  it('preserves the source text of the projected fields', () => {
    const json =
      '{"metadata":{"name":"a","uid":"u","resourceVersion":"1","creationTimestamp":""},"spec":{"b":1.0,"10":{"x":9007199254740993,"y":1},"9":"\\u003c"},"items":[{"n":1e3,"m":1},{"n":-0}]}'
    const exact = CachedObject.from(servedNodes, JSON.parse(json), json)
    const show = (fields: string) => objectBytes(exact, createFieldsForm(fields)).toString()
    expect(show('spec')).to.equal('{"spec":{"b":1.0,"10":{"x":9007199254740993,"y":1},"9":"\\u003c"}}')
    expect(show('spec.9,spec.10.x,spec.b')).to.equal(
      '{"spec":{"b":1.0,"10":{"x":9007199254740993},"9":"\\u003c"}}',
    )
    expect(show('items.n')).to.equal('{"items":[{"n":1e3},{"n":-0}]}')
    expect(show('items[1]')).to.equal('{"items":[{"n":-0}]}')
  })

  it('rejects invalid paths, and too many paths', () => {
    expect(thrownFields(() => createFieldsForm('metadata.name,[')).code).to.equal(400)
    expect(thrownFields(() => createFieldsForm('a,'.repeat(65))).message).to.equal(
      'fields has 65 paths; at most 64 are allowed',
    )
  })

  it('parses unclosed brackets quickly', () => {
    const began = process.threadCpuUsage()
    for (const text of ['['.repeat(100_000), `${'[]'.repeat(50_000)}[`, `${'a['.repeat(50_000)}]`])
      expect(thrownFields(() => createFieldsForm(text))).to.include({ code: 400 })
    expect(process.threadCpuUsage(began).user / 1_000, 'ms of CPU').to.be.below(3_000)
  })
})
