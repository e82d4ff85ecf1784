import { join } from 'node:path'
import { expect } from 'chai'
import { isAlive, type ProcessId } from '../../hack/controlplane/processes/process-id.ts'
import { createProcessRecords } from '../../hack/controlplane/processes/records.ts'
import { repository } from '../../hack/controlplane/settings.ts'
import { eventually } from '../e2e/http.ts'
import { run } from '../e2e/run.ts'

const runDir = join(repository, '.run-terminal')
const script = join(import.meta.dirname, 'terminal.py')

describe('make run in a closed terminal window', function () {
  this.timeout(180_000)

  // Most terminal windows run a shell that runs make; others run only make.
  const shell = ['bash', '-ic', 'make run; true']
  for (const [when, text, command] of [
    ['while they start', 'etcd is ready', ['make', 'run']],
    ['when they are running', 'Ctrl-C stops everything', shell],
  ] as const) {
    it(`stops all processes, ${when}`, async () => {
      const env = { RUN_DIR: runDir, KAPIS_ONLY_CONTROLPLANE: '1', NODES: '1', PODS: '0' }
      const options = { env, cwd: repository, timeoutMs: 120_000 }
      // PIDs are collected while the programs run: on a busy machine, all may have ended before the
      // closed window is noticed.
      const pids = new Map<string, ProcessId>()
      const look = setInterval(() => {
        for (const [name, id] of createProcessRecords(runDir).pids()) pids.set(name, id)
      }, 50)
      const ran = await run('python3', [script, text, ...command], options).finally(() => clearInterval(look))
      expect(ran.stdout.trim(), ran.stderr).to.equal('closed')
      expect([...pids.keys()]).to.include.members(['supervisor', 'etcd'])
      await eventually(
        async () => {
          const alive = [...pids].filter(([, id]) => isAlive(id)).map(([name]) => name)
          expect(alive).to.deep.equal([])
          expect([...createProcessRecords(runDir).pids().keys()]).to.deep.equal([])
        },
        60_000,
        200,
      )
    })
  }
})
