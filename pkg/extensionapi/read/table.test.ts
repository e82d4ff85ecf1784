import { expect } from 'chai'
import { thrownFields } from '../../apierrors/fixtures.ts'
import { QueryParameters } from '../../apirequest/query/query-parameters.ts'
import { entry, node, storeOf } from '../../resourcecache/fixtures.ts'
import { nodes } from '../../resourcecache/kinds/nodes.ts'
import { selectPage } from '../../resourcecache/store/chunk.ts'
import {
  parseIncludeObject,
  type TableOptions,
  tableHead,
  tableOfObject,
  tableRows,
  toPartial,
} from './table.ts'

const nowMs = Date.parse('2031-05-06T10:20:09Z')
const options: TableOptions = { version: 'v1', includeObject: 'Metadata', nowMs }
const decoration = { annotations: { computed: 'x' }, cells: ['3/110', '650m/4 (16%)', '1Gi/2Gi (50%)'] }
const n1 = entry('n1', {
  version: 7,
  labels: { 'node-role.kubernetes.io/worker': '' },
  meta: { managedFields: [{ manager: 'm' }] },
  spec: { podCIDR: '10.0.0.0/24' },
  status: { conditions: [{ type: 'Ready', status: 'True' }], nodeInfo: { kubeletVersion: 'v1.36.3' } },
}).decorated(decoration)

const cells = [
  'n1',
  'Ready',
  'worker',
  '3h12m',
  'v1.36.3',
  '<none>',
  '<none>',
  '<unknown>',
  '<unknown>',
  '<unknown>',
  ...decoration.cells,
]
const metadata = {
  name: 'n1',
  uid: 'uid-n1',
  resourceVersion: '7',
  creationTimestamp: '2031-05-06T07:08:09Z',
  labels: { 'node-role.kubernetes.io/worker': '' },
}

describe('tableHead', () => {
  it('defines every column with all the fields that clients read', () => {
    const head = tableHead(nodes, 'v1beta1', { resourceVersion: '9' })
    expect(head).to.deep.include({
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1beta1',
      metadata: { resourceVersion: '9' },
    })
    const definitions = JSON.parse(JSON.stringify(head.columnDefinitions))
    expect(definitions).to.have.length(13)
    for (const definition of definitions)
      expect(definition).to.have.all.keys('name', 'type', 'format', 'description', 'priority')
  })
})

describe('tableOfObject', () => {
  const table = (isFirst: boolean, changed: Partial<TableOptions> = {}) =>
    JSON.parse(tableOfObject(n1, { ...options, ...changed }, isFirst))

  it('has a cell for each column, and the metadata of the object', () => {
    const { columnDefinitions, ...rest } = table(true)
    expect(columnDefinitions).to.deep.equal(nodes.columns)
    expect(rest).to.deep.equal({
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { resourceVersion: '7' },
      rows: [{ cells, object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata } }],
    })
  })

  it('contains the columns only once', () => {
    expect(table(false).columnDefinitions).to.equal(null)
  })

  it('includes the whole object, or none, on request', () => {
    expect(table(true, { includeObject: 'Object' }).rows[0].object).to.deep.equal({
      kind: 'Node',
      apiVersion: 'resources.kapis.io/v1alpha3',
      metadata,
      spec: { podCIDR: '10.0.0.0/24' },
      status: { conditions: [{ type: 'Ready', status: 'True' }], nodeInfo: { kubeletVersion: 'v1.36.3' } },
    })
    expect(table(true, { includeObject: 'None' }).rows[0]).to.deep.equal({ cells, object: null })
  })

  it('includes metadata of the requested version', () => {
    expect(table(true, { version: 'v1beta1' }).rows[0].object.apiVersion).to.equal('meta.k8s.io/v1beta1')
  })
})

describe('tableRows', () => {
  it('returns a row for each object, with its current age', () => {
    const store = storeOf([
      node('b', { created: '2031-05-06T10:20:00Z' }),
      node('a', { created: '2031-05-04T10:20:09Z' }),
    ])
    const selection = selectPage(store.snapshot(), { offset: 0, count: 2, descending: false, size: 2 })
    const rows = Array.from(tableRows(selection, options), row => JSON.parse(row).cells)
    expect(rows.map(row => [row[0], row[3]])).to.deep.equal([
      ['a', '2d'],
      ['b', '9s'],
    ])
  })
})

describe('toPartial', () => {
  it('returns metadata only, without managedFields', () => {
    expect(JSON.parse(toPartial(n1, 'v1'))).to.deep.equal({
      kind: 'PartialObjectMetadata',
      apiVersion: 'meta.k8s.io/v1',
      metadata,
    })
  })
})

describe('parseIncludeObject', () => {
  for (const [query, expected] of [
    ['', 'Metadata'],
    ['includeObject=', 'Metadata'],
    ['includeObject=Metadata', 'Metadata'],
    ['includeObject=Object', 'Object'],
    ['includeObject=None', 'None'],
  ] as const) {
    it(`reads ?${query} as ${expected}`, () => {
      expect(parseIncludeObject(new QueryParameters(query))).to.equal(expected)
    })
  }

  for (const value of ['object', 'none', 'All', 'constructor']) {
    it(`rejects ${value}`, () => {
      expect(
        thrownFields(() => parseIncludeObject(new QueryParameters(`includeObject=${value}`))),
      ).to.deep.equal({
        code: 400,
        reason: 'BadRequest',
        message: `unrecognized includeObject value: "${value}": must be Metadata, Object or None`,
      })
    })
  }
})
