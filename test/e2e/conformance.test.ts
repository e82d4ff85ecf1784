import { dirname, join } from 'node:path'
import { expect } from 'chai'
import { createProcessRecords } from '../../hack/controlplane/processes/records.ts'
import { accessToken } from './cluster.ts'
import { buildGo, goBuildTimeoutMs, hasGo } from './go-program.ts'
import { run, scratch, setting } from './run.ts'

const source = join(import.meta.dirname, '..', 'conformance')
const program = join(scratch, 'conformance')

/** The Go tests in test/conformance, each of which has many checks, by name. */
const tests: Readonly<Record<string, string>> = {
  TestAggregator: 'what kube-apiserver holds of a server that it aggregates',
  TestChunking: 'chunks, continue tokens and the pager',
  TestClients: 'the dynamic, the metadata and the typed client',
  TestColumns: 'the columns of tables',
  TestDiscovery: 'discovery, aggregated and legacy, and REST mappers',
  TestErrors: 'errors, by what client-go takes them for',
  TestGroup: 'the documents of the group',
  TestOpenAPI: 'OpenAPI of versions 2 and 3',
  TestProtobuf: 'who takes protobuf alone',
  TestReadOnly: 'every way to write',
  TestShards: 'lists and watches of shards',
  TestTable: 'tables, and metadata alone',
  TestWatch: 'watches',
  TestWatchList: 'watches that begin with the first state, and informers',
}

type Outcome = { readonly passed: readonly string[]; readonly failed: readonly string[] }

describe('client-go receives the same from the aggregated API as from kube-apiserver’s own', () => {
  let printed = ''

  before(async function () {
    this.timeout(goBuildTimeoutMs + 300_000)
    if (!(await hasGo('the conformance tests'))) this.skip()
    await buildGo('the conformance tests', ['test', '-c', '-vet=off', '-o', program, '.'], source)
    const args = ['-test.v', '-test.parallel=8', '-test.timeout=240s']
    const env = { KAPIS_TOKEN: await accessToken(), ETCD_URL: etcdUrl() }
    const { stdout, stderr } = await run(program, args, { env, timeoutMs: 300_000 })
    printed = stdout + stderr
  })

  it('the conformance tests cover each upstream test', () => {
    const names = [...printed.matchAll(/^--- \w+: (\w+) /gm)].map(([, name]) => name)
    expect(names.sort(), printed).to.deep.equal(Object.keys(tests).sort())
  })

  for (const [name, what] of Object.entries(tests)) {
    it(what, () => {
      const { passed, failed } = outcomeOf(name, printed)
      expect(failed, printed).to.deep.equal([])
      expect(passed, printed).to.include(name).and.to.have.length.above(1)
    })
  }
})

function outcomeOf(test: string, text: string): Outcome {
  const ended = [...text.matchAll(/^ *--- (PASS|FAIL|SKIP): (\S+) \(/gm)]
  const named = ended.filter(([, , name = '']) => name.split('/')[0] === test)
  const of = (isPass: boolean) =>
    named.filter(([, how]) => (how === 'PASS') === isPass).map(([, , name = '']) => name)
  return { passed: of(true), failed: of(false) }
}

function etcdUrl(): string {
  const parts = createProcessRecords(dirname(setting('KAPIS_CA'))).parts()
  const probe = parts.find(({ name }) => name === 'etcd')?.probe
  if (probe === undefined || !('url' in probe)) throw new Error('no etcd runs next to these tests')
  return new URL(probe.url).origin
}
