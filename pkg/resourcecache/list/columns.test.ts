import { expect } from 'chai'
import { parseListQuery } from '../../apirequest/query/list-query.ts'
import { QueryParameters } from '../../apirequest/query/query-parameters.ts'
import { parseFieldSelector } from '../../apirequest/selector/field-selector.ts'
import { entry, servedNodes, toEntry } from '../fixtures.ts'
import { plain } from '../kinds/platform.ts'
import { restrictToColumns, toColumnRestriction } from './columns.ts'
import { readPrinterColumns } from './printer-columns.ts'

const definition = {
  spec: {
    versions: [
      { name: 'v1alpha1', additionalPrinterColumns: [{ name: 'Old', jsonPath: '.spec.old' }] },
      {
        name: 'v1',
        additionalPrinterColumns: [
          { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
          { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
          { name: 'Zone', type: 'string', jsonPath: ".metadata.labels['example.com/zone']" },
          { name: 'Synced', type: 'string', jsonPath: ".status.conditions[?( @.type == 'Synced' )].status" },
          { name: 'Strange', type: 'string', jsonPath: '.spec..all' },
          { name: 'Two', type: 'string', jsonPath: '.a[?(@.b=="c")].d[?(@.e=="f")]' },
          { name: 'Greater', type: 'string', jsonPath: '.a[?(@.b>3)].c' },
          { name: 'Unclosed', type: 'string', jsonPath: '.a[?(@.b=="c"' },
          { name: 'Long', type: 'string', jsonPath: '.a'.repeat(513) },
        ],
      },
    ],
  },
}
const widgets = {
  ...servedNodes.kind,
  ...plain,
  ...{ plural: 'widgets', kind: 'Widget', columns: [] },
  source: { group: 'example.com', version: 'v1', path: '/apis/example.com/v1/widgets' },
}
const widget = toEntry(
  { kind: widgets, group: 'resources.kapis.io', version: 'v1alpha3' },
  {
    kind: 'Widget',
    apiVersion: 'example.com/v1',
    metadata: {
      ...{ name: 'w', uid: 'u', resourceVersion: '1', creationTimestamp: '2031-05-06T07:08:09Z' },
      labels: { 'example.com/zone': 'a,b' },
    },
    spec: { size: 3 },
    status: {
      conditions: [
        { type: 'Synced', status: 'Unknown' },
        { type: 'Ready', status: 'True' },
      ],
    },
  },
)
const printer = readPrinterColumns(definition, 'v1')

describe('columnSelector', () => {
  const ofNodes: readonly [selector: string, isMatch: boolean][] = [
    ['Name=a', true],
    ['name=a', true],
    ['NAME!=a', false],
    ['Status=Ready', true],
    ['Status==Ready,Name!=b', true],
    ['Status=Ready,Name=b', false],
    ['Roles=<none>', true],
    ['Age=2031-05-06T07:08:09Z', true],
    ['Age=3m', false],
  ]
  for (const [selector, isMatch] of ofNodes)
    it(`${selector} ${isMatch ? 'matches' : 'does not match'} a node`, () => {
      const ready = entry('a', { status: { conditions: [{ type: 'Ready', status: 'True' }] } })
      const { matches } = restrictToColumns(servedNodes.kind, parseFieldSelector(selector))
      expect(matches(ready)).to.equal(isMatch)
    })

  const ofCustom: readonly [selector: string, isMatch: boolean][] = [
    ['Size=3', true],
    ['Size=3.0', true],
    ['Size!=3', false],
    ['ready=True', true],
    ['Ready=Unknown', false],
    ['Synced=Unknown', true],
    ['Zone=a\\,b', true],
    ['Name=w', true],
  ]
  for (const [selector, isMatch] of ofCustom)
    it(`${selector} ${isMatch ? 'matches' : 'does not match'} a custom resource`, () => {
      const { matches } = restrictToColumns(widgets, parseFieldSelector(selector), printer)
      expect(matches(widget)).to.equal(isMatch)
    })

  it('treats a cell without a value as <none>', () => {
    const bare = toEntry(widget.served, { ...widget.parsed(), spec: {}, status: {} })
    for (const [selector, isMatch] of [
      ['Size=<none>', true],
      ['Ready!=True', true],
      ['Ready=', false],
    ] as const)
      expect(
        restrictToColumns(widgets, parseFieldSelector(selector), printer).matches(bare),
        selector,
      ).to.equal(isMatch)
  })

  it('parses a hostile CRD in linear time', () => {
    const jsonPath = `.a${'[?(@ '.repeat(3_000)}${' '.repeat(3_000)}`
    const hostile = {
      spec: { versions: [{ name: 'v1', additionalPrinterColumns: [{ name: 'A', jsonPath }] }] },
    }
    const since = performance.now()
    expect(readPrinterColumns(hostile, 'v1')).to.deep.equal([])
    expect(performance.now() - since).to.be.below(1_000)
  })

  it('reads the first hundred columns of a CRD', () => {
    const additionalPrinterColumns = Array.from({ length: 101 }, (_, i) => ({
      name: `C${i}`,
      jsonPath: '.a',
    }))
    const wide = { spec: { versions: [{ name: 'v1', additionalPrinterColumns }] } }
    expect(readPrinterColumns(wide, 'v1').map(({ name }) => name)).to.deep.equal(
      Array.from({ length: 100 }, (_, i) => `C${i}`),
    )
  })

  it('lists the supported columns in the error', () => {
    const refuse = (kind: typeof widgets, given?: typeof printer) =>
      expect(() => restrictToColumns(kind, parseFieldSelector('Colour=red'), given))
    refuse(widgets, printer).to.throw(
      'unknown column "Colour" of widgets; supported: Name, Size, Ready, Zone, Synced',
    )
    refuse(widgets).to.throw('unknown column "Colour" of widgets; supported: Name, Age')
  })

  it('has another cache key for another definition of a column', () => {
    const keyOf = (given: typeof printer) =>
      restrictToColumns(widgets, parseFieldSelector('Size=3'), given).key
    const moved = [{ name: 'Size', path: { before: ['spec', 'amount'] } }]
    expect(keyOf(printer)).to.not.equal(keyOf(moved))
  })

  it('ignores an unknown column of the platform API, with a warning', async () => {
    const query = parseListQuery(new QueryParameters('columnSelector=Size%3D3,Colour%3Dred'))
    const { restriction, warning } = await toColumnRestriction(widgets, query, async () => printer)
    expect(warning).to.equal(
      'ignored unknown column "Colour" of widgets; supported: Name, Size, Ready, Zone, Synced',
    )
    expect(restriction?.matches(widget)).to.equal(true)
  })
})
