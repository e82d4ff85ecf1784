import { expect } from 'chai'
import { refusalOf } from '../status/fixtures.ts'
import { objectBytes } from './body.ts'
import { createFieldsForm } from './fields-form.ts'
import { entry } from './fixtures.ts'

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
  ]
  for (const [fields, expected] of table) {
    it(`${fields} leaves ${JSON.stringify(expected)}`, () => {
      expect(JSON.parse(objectBytes(sample, createFieldsForm(fields)).toString())).to.deep.equal(expected)
    })
  }

  it('refuses what is no path, and more paths than anybody needs', () => {
    expect(refusalOf(() => createFieldsForm('metadata.name,[')).code).to.equal(400)
    expect(refusalOf(() => createFieldsForm('a,'.repeat(65))).message).to.equal(
      'fields names 65 paths; at most 64 are allowed',
    )
  })
})
