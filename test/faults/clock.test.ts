import { setTimeout as sleep } from 'node:timers/promises'
import { accessToken, kubectl, kubectlOutput, nodeNames, uniqueName } from '../e2e/cluster.ts'
import { runFault } from './fault.ts'
import { type Replica, startReplica } from './replica.ts'
import type { TrafficOptions } from './traffic.ts'

const holdSeconds = process.env.FAULTS === 'long' ? 8 : 1.5
const jumpMs = 600_000

// Sets the clocks of a kapis-apiserver and its kapis-oauth; that of the machine would affect other
// programs. After a clock was set back, new tokens are from the future and users have to log in
// again, so the traffic uses an older token.
describe('a change of the system time', function () {
  this.timeout(180_000)
  const namespace = uniqueName('clock')
  let replica: Replica
  let traffic: TrafficOptions

  before(async () => {
    await kubectlOutput('create', 'namespace', namespace)
    const token = await accessToken()
    const nodes = (await nodeNames()).length
    replica = await startReplica({ hasOwnListener: true })
    traffic = { url: replica.url, token, nodes, namespace }
  })
  after(async () => {
    await replica?.stop()
    await kubectl('delete', 'namespace', namespace, '--wait=false')
  })

  for (const [name, clockMs] of [
    ['ten minutes ahead', jumpMs],
    ['ten minutes back', 0],
  ] as const) {
    it(name, () =>
      runFault(
        {
          name: `the clock jumps ${name}`,
          async begin() {
            replica.set({ clockMs })
            // preload.ts reads the fault every 50 ms.
            await sleep(250)
          },
          end: () => undefined,
          holdSeconds,
          pid: () => replica.apiserver.pid ?? 0,
        },
        traffic,
      ),
    )
  }
})
