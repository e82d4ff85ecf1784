import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { createPortFinder } from '../../hack/controlplane/processes/ports.ts'
import { hasJava } from '../../hack/opensearch/command.ts'
import { type OpenSearch, startOpenSearch } from '../integration/open-search.ts'
import { accessToken, sendToKapis } from './cluster.ts'
import { describeAuditEvents, describeEvents } from './event-cases.ts'
import { eventually, groupDomain, platformPath, sendAs } from './http.ts'
import { describeLogs } from './log-cases.ts'
import { env } from './replica.ts'
import { scratch, setting } from './run.ts'

const readyWithinMs = 300_000

describe('kapis-apiserver with OpenSearch', function () {
  this.timeout(400_000)

  let engine: OpenSearch | undefined
  let child: ChildProcess | undefined
  let base = ''
  const ports = createPortFinder()

  before(async function () {
    if (!hasJava()) this.skip()
    engine = await startOpenSearch()
    const port = await ports.any()
    base = `https://127.0.0.1:${port}`
    const common = JSON.parse(readFileSync(join(setting('KAPIS_LOGS_DIR'), '../kapis.yaml'), 'utf8'))
    const config = join(scratch, 'with-opensearch.json')
    const own = {
      listen: { address: '127.0.0.1', port },
      logs: { store: 'opensearch', opensearch: { url: engine.url } },
      audit: { path: join(scratch, 'audit-of-opensearch.log') },
    }
    writeFileSync(config, JSON.stringify({ ...common, ...own }))
    child = spawn(process.execPath, ['cmd/apiserver/main.ts', '--config', config], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...env, KAPIS_LOG_LEVEL: 'error' },
    })
    await eventually(
      async () => expect((await sendToKapis(`${base}/readyz`)).code).to.equal(200),
      readyWithinMs,
    )
  })

  after(async () => {
    if (child !== undefined && child.exitCode === null) {
      child.kill('SIGTERM')
      await once(child, 'exit')
    }
    await engine?.stop()
    ports.release()
  })

  describeLogs('OpenSearch', () => base)
  describeEvents('OpenSearch', () => base)
  describeAuditEvents('OpenSearch', () => base)

  // A nested suite, since mocha runs the tests of a suite before its nested suites.
  describe('with an unreachable store', () => {
    it('reports that the store is unreachable, and serves everything else', async () => {
      await engine?.stop()
      const token = await accessToken()
      const logs = `/kapis/tenant.${groupDomain}/v1alpha2/logs`
      for (const path of [logs, `${logs}?operation=statistics`, `${logs}?operation=export`]) {
        const { code, headers, body } = await sendAs(token, `${base}${path}`)
        expect([code, headers['retry-after'], JSON.parse(body).message]).to.deep.equal([
          503,
          '5',
          'the log store is not responding',
        ])
      }
      expect((await sendAs(token, `${base}${platformPath}`)).code).to.equal(200)
      expect((await sendAs(token, `${base}/api/v1/nodes`)).code).to.equal(200)
      expect((await sendToKapis(`${base}/readyz`)).code).to.equal(200)
    })
  })
})
