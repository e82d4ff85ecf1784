import { expect } from 'chai'
import { parse } from 'yaml'
import { group, kubectl, kubectlJson, kubectlOutput, nodeNames, nodes, version } from './cluster.ts'
import { parseColumns, without } from './columns.ts'
import { follow } from './run.ts'

const plainColumns = ['NAME', 'STATUS', 'ROLES', 'AGE', 'VERSION']
const nativeWideColumns = [
  ...plainColumns,
  'INTERNAL-IP',
  'EXTERNAL-IP',
  'OS-IMAGE',
  'KERNEL-VERSION',
  'CONTAINER-RUNTIME',
]
const ownWideColumns = ['PODS', 'CPU-REQUESTS', 'MEMORY-REQUESTS']

type NodeObject = {
  apiVersion: string
  kind: string
  metadata: Record<string, unknown>
  [key: string]: unknown
}

describe('kubectl get nodes for the aggregated API compared to the native one', function () {
  this.timeout(60_000)
  let names: readonly string[]
  let first: string

  before(async () => {
    names = await nodeNames()
    first = names[0] ?? ''
    expect(names.length, 'sample nodes').to.be.greaterThan(2)
  })

  it('prints the same table', async () => {
    const [own, native] = await both('get', 'NODES')
    expect(Object.keys(own[0] ?? {})).to.deep.equal(plainColumns)
    expect(without(own, 'AGE')).to.deep.equal(without(native, 'AGE'))
    for (const { AGE } of own) expect(AGE).to.match(/^\d+[smhdy]/)
  })

  it('-o wide adds what pods request', async () => {
    const [own, native] = await both('get', 'NODES', '-o', 'wide')
    expect(Object.keys(own[0] ?? {})).to.deep.equal([...nativeWideColumns, ...ownWideColumns])
    expect(without(own, 'AGE', ...ownWideColumns)).to.deep.equal(without(native, 'AGE'))
    for (const row of own) {
      expect(row.PODS).to.match(/^\d+\/\d+$/)
      expect(row['CPU-REQUESTS']).to.match(/^\S+\/\S+ \(\S+%\)$/)
      expect(row['MEMORY-REQUESTS']).to.match(/^\S+\/\S+ \(\S+%\)$/)
    }
  })

  it('--show-labels and -L show the same labels', async () => {
    for (const flags of [['--show-labels'], ['-L', 'kubernetes.io/hostname']]) {
      const [own, native] = await both('get', 'NODES', ...flags)
      expect(without(own, 'AGE')).to.deep.equal(without(native, 'AGE'))
    }
  })

  it('-o name prints names with the API group', async () => {
    const text = await kubectlOutput('get', nodes, '-o', 'name')
    expect(text.trim().split('\n')).to.deep.equal(names.map(name => `node.${group}/${name}`))
  })

  it('-l and --field-selector select the same', async () => {
    const selections = [
      ['-l', `kubernetes.io/hostname=${first}`],
      ['-l', `kubernetes.io/hostname notin (${first}),kubernetes.io/os`],
      ['-l', '!kubernetes.io/hostname'],
      ['--field-selector', `metadata.name=${first}`],
      ['--field-selector', `metadata.name!=${first}`],
    ]
    for (const selection of selections) {
      const own = await kubectlOutput('get', nodes, ...selection, '-o', 'jsonpath={.items[*].metadata.name}')
      const native = await kubectlOutput(
        'get',
        'nodes',
        ...selection,
        '-o',
        'jsonpath={.items[*].metadata.name}',
      )
      expect(own, selection.join(' ')).to.equal(native)
    }
  })

  it('--sort-by sorts the same', async () => {
    for (const path of [
      '.metadata.name',
      '.metadata.creationTimestamp',
      '{.status.nodeInfo.kubeletVersion}',
    ]) {
      const [own, native] = await both('get', 'NODES', '--sort-by', path)
      expect(without(own, 'AGE'), path).to.deep.equal(without(native, 'AGE'))
    }
  })

  it('--chunk-size=2 fetches page by page', async () => {
    const { code, stdout, stderr } = await kubectl('get', nodes, '--chunk-size=2', '-o', 'name', '-v=6')
    expect(code).to.equal(0)
    expect(stdout.trim().split('\n')).to.deep.equal(names.map(name => `node.${group}/${name}`))
    const pages = stderr
      .split('\n')
      .filter(line => line.includes(`/${version}/nodes?`) && line.includes('limit=2'))
    expect(pages.length).to.equal(Math.ceil(names.length / 2))
    expect(pages.filter(line => line.includes('continue=')).length).to.equal(pages.length - 1)
  })

  it('-o yaml and -o json show the same object', async () => {
    for (const format of ['yaml', 'json']) {
      const [own, native] = await sameVersion(first, format)
      expect(own.apiVersion).to.equal(`${group}/${version}`)
      expect(comparable(own), format).to.deep.equal(comparable(native))
    }
  })

  it('-o json lists the same objects', async () => {
    const own = await kubectlJson('get', nodes)
    expect(own).to.deep.include({ apiVersion: 'v1', kind: 'List' })
    expect(own).to.have.property('items').with.length(names.length)
  })

  it('-w shows an update as it arrives', async () => {
    const watching = follow('kubectl', ['get', nodes, first, '-w', '-L', 'test/watched'])
    const value = `w${Date.now()}`
    try {
      await watching.line(line => line.startsWith(`${first} `))
      await kubectlOutput('label', 'node', first, `test/watched=${value}`, '--overwrite')
      const line = await watching.line(text => text.includes(value), 5_000)
      expect(line).to.match(new RegExp(`^${first} .* ${value}$`))
    } finally {
      await watching.stop()
      await kubectlOutput('label', 'node', first, 'test/watched-')
    }
  })

  it('describe shows a node', async () => {
    const text = await kubectlOutput('describe', nodes, first)
    expect(text).to.match(new RegExp(`^Name: +${first}\n`))
    expect(text).to.match(new RegExp(`^API Version: +${group}/${version}\nKind: +Node$`, 'm'))
  })

  it('wait ends when a condition is met', async () => {
    const text = await kubectlOutput('wait', '--for=condition=Ready', `${nodes}/${first}`, '--timeout=20s')
    expect(text).to.equal(`node.${group}/${first} condition met\n`)
  })
})

/** Runs a command for nodes of the extension API and for native nodes; NODES stands for either. */
async function both(...args: readonly string[]) {
  const texts = [nodes, 'nodes'].map(kind =>
    kubectlOutput(...args.map(arg => (arg === 'NODES' ? kind : arg))),
  )
  const [own = '', native = ''] = await Promise.all(texts)
  return [parseColumns(own), parseColumns(native)] as const
}

/**
 * Returns a node from both APIs at the same resource version. Retries, since heartbeats change it.
 */
async function sameVersion(name: string, format: string): Promise<readonly [NodeObject, NodeObject]> {
  for (let attempt = 0; attempt < 10; attempt++) {
    const texts = [nodes, 'nodes'].map(kind => kubectlOutput('get', kind, name, '-o', format))
    const [own, native] = await Promise.all(texts)
    const objects = [parse(own ?? ''), parse(native ?? '')] as const
    if (objects[0].metadata.resourceVersion === objects[1].metadata.resourceVersion) return objects
  }
  throw new Error(`${name} changes faster than it can be read`)
}

/** Removes apiVersion, the only expected difference. */
function comparable({ apiVersion: _, ...rest }: NodeObject): unknown {
  return rest
}
