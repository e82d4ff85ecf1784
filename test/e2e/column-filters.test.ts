import { expect } from 'chai'
import { accessToken, group, kubectl, kubectlOutput, makeNamespace, uniqueName, version } from './cluster.ts'
import { apply, eventually, sendAs } from './http.ts'

const namespace = uniqueName('columns')
const plural = `${uniqueName('widget')}s`.replaceAll('-', '')
const customGroup = 'columns.example.com'

function widget(name: string, size: number, ready: string) {
  return {
    apiVersion: `${customGroup}/v1`,
    kind: 'Widget',
    metadata: { name, namespace },
    spec: { size, conditions: [{ type: 'Ready', status: ready }] },
  }
}

/** Filters lists by the columns that kubectl prints. */
describe('a list with column filters', function () {
  this.timeout(60_000)
  let admin = ''

  before(async () => {
    admin = await accessToken()
    await makeNamespace(namespace, [])
    const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
    await apply({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.${customGroup}` },
      spec: {
        group: customGroup,
        scope: 'Namespaced',
        names: { plural, singular: plural.slice(0, -1), kind: 'Widget', listKind: 'WidgetList' },
        versions: [
          {
            ...{ name: 'v1', served: true, storage: true },
            schema: { openAPIV3Schema: open },
            additionalPrinterColumns: [
              { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
              { name: 'Ready', type: 'string', jsonPath: '.spec.conditions[?(@.type=="Ready")].status' },
            ],
          },
        ],
      },
    })
    await eventually(async () => {
      for (const object of [widget('a', 3, 'True'), widget('b', 3, 'False'), widget('c', 5, 'True')])
        await apply(object)
    }, 20_000)
  })
  after(async () => {
    await kubectl('delete', 'crd', `${plural}.${customGroup}`, '--wait=false')
    await kubectl('delete', 'namespace', namespace, '--wait=false')
  })

  const names = (body: string): readonly string[] =>
    JSON.parse(body).items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)

  it('returns the rows that kubectl prints with these cells', async () => {
    const table = await kubectlOutput('get', plural, '-n', namespace, '--no-headers')
    for (const [selector, matches] of [
      ['Size=3', (cells: readonly string[]) => cells[1] === '3'],
      ['READY=True', (cells: readonly string[]) => cells[2] === 'True'],
      ['Size=3,Ready!=True', (cells: readonly string[]) => cells[1] === '3' && cells[2] !== 'True'],
      ['Name=c', (cells: readonly string[]) => cells[0] === 'c'],
    ] as const) {
      const rows = table
        .trim()
        .split('\n')
        .map(line => line.trim().split(/\s+/))
      const expected = rows.filter(matches).map(([name]) => name)
      const query = `columnSelector=${encodeURIComponent(selector)}&sortBy=name&ascending=true`
      const { code, body } = await sendAs(
        admin,
        `/kapis/${customGroup}/v1/namespaces/${namespace}/${plural}?${query}`,
      )
      expect(code, body).to.equal(200)
      expect(names(body), selector).to.deep.equal(expected)
      expect(JSON.parse(body).totalItems).to.equal(expected.length)
    }
  })

  it('ignores an unknown column in the platform API, and lists the known ones', async () => {
    const { code, headers, body } = await sendAs(
      admin,
      `/kapis/${customGroup}/v1/namespaces/${namespace}/${plural}?columnSelector=Colour%3Dred`,
    )
    expect(code).to.equal(200)
    expect(names(body)).to.have.members(['a', 'b', 'c'])
    expect(String(headers.warning)).to.contain(
      `ignored unknown column \\"Colour\\" of ${plural}; supported: Name, Size, Ready`,
    )
  })

  it('returns the same through kube-apiserver, where an unknown column is an error', async () => {
    const path = `/apis/${group}/${version}/nodes`
    const nodes = JSON.parse(await kubectlOutput('get', '--raw', path))
    const [first] = nodes.items
    const raw = await kubectlOutput('get', '--raw', `${path}?columnSelector=name%3D${first.metadata.name}`)
    expect(names(raw)).to.deep.equal([first.metadata.name])
    const refused = await kubectl('get', '--raw', `${path}?columnSelector=Colour%3Dred`)
    expect(refused.stderr).to.contain('unknown column "Colour" of nodes; supported: Name, Status, Roles, Age')
  })

  it('rejects an invalid selector', async () => {
    const { code, body } = await sendAs(admin, `/kapis/${group}/${version}/nodes?columnSelector=Status`)
    expect(code).to.equal(400)
    expect(JSON.parse(body).message).to.equal("invalid selector: 'Status'; can't understand 'Status'")
  })
})
