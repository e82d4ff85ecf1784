import { engineNames, findEngine, findSecuredEngine } from './opensearch/engines.ts'
import { createClusters } from './test/clusters.ts'
import { createQueue, runMocha } from './test/mocha-process.ts'
import { isSuccess, none, type Outcome, sum, toLine } from './test/totals.ts'

// make test-stores: runs the tests of the log store on each search engine of hack/opensearch, or
// only on STORE. They also run through kapis-apiserver of one control plane, and on Elasticsearch
// 9.5 with security. GREP=text selects tests by title.

const files = ['test/integration/opensearch-store.test.ts', 'test/e2e/logs-opensearch.test.ts']
const securedFiles = ['test/stores/elasticsearch-security.test.ts']
const timeoutMs = 180_000
const runDir = `${process.env.RUN_DIR || '.run'}-stores`

const clusters = createClusters()

const names = process.env.STORE ? [findEngine().name] : engineNames
const outcomes = new Map<string, Outcome>()
const all = await clusters.with(runDir, async env => {
  for (const name of names) {
    console.log(`\n${name} ${findEngine(name).version}`)
    const jobs = name === findSecuredEngine().engine.name ? [files, securedFiles] : [files]
    outcomes.set(name, await runMocha(createQueue(jobs), { name, timeoutMs, env: { ...env, STORE: name } }))
  }
  return sum([...outcomes.values()])
})
if (all.failures.length > 0) console.error(['failed:', ...all.failures].join('\n  '))
for (const name of names) console.log(`${name}: ${toLine(outcomes.get(name) ?? none)}`)
console.log(toLine(all))
process.exit(isSuccess(all) ? 0 : 1)
