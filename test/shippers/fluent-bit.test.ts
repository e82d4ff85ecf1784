import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { parse, stringify } from 'yaml'
import { kubeCa, kubectlOutput } from '../e2e/cluster.ts'
import { follow, type RunningCommand, scratch, setting } from '../e2e/run.ts'
import { expectEachOnce, ingestPath, type ShipperScene, startShipperScene } from './scene.ts'
import { fluentBit, fluentBitVersion } from './tools.ts'

const manifest = join(import.meta.dirname, '../../manifests/components/fluent-bit/config/fluent-bit.yaml')
const folder = join(scratch, 'fluent-bit')
const containers = join(folder, 'containers')
const id = 'c0ffee00'.repeat(8)

describe('Fluent Bit with the configuration of the component', function () {
  this.timeout(600_000)
  let scene: ShipperScene
  let shipper: RunningCommand

  before(async function () {
    this.timeout(2_000_000)
    const program = await fluentBit()
    scene = await startShipperScene()
    await kubectlOutput('-n', scene.namespace, 'run', 'web-0', '--image=web', '--labels=app=web')
    mkdirSync(containers, { recursive: true })
    writeFileSync(join(folder, 'token'), scene.token)
    const file = join(folder, 'fluent-bit.yaml')
    writeFileSync(file, await configuration())
    const env = { KAPIS_TOKEN: scene.token, NODE_NAME: 'node-a' }
    shipper = follow(program, [`--config=${file}`], { env })
  })
  after(async () => {
    await shipper?.stop()
    await scene?.stop()
  })

  /** Returns the configuration of the component, with addresses and folders of this machine. */
  async function configuration(): Promise<string> {
    const { service, pipeline } = parse(readFileSync(manifest, 'utf8'))
    const [tail] = pipeline.inputs
    const [kubernetes] = pipeline.filters
    const [loki] = pipeline.outputs
    service['storage.path'] = join(folder, 'buffer')
    Object.assign(tail, {
      ...{ path: join(containers, '*.log'), db: join(folder, 'tail.db') },
      ...{ read_from_head: 'on', refresh_interval: 1 },
    })
    Object.assign(kubernetes, {
      ...{ kube_url: setting('KUBE_URL'), kube_ca_file: await kubeCa() },
      kube_token_file: join(folder, 'token'),
    })
    const { hostname, port } = new URL(scene.url)
    const uri = `${ingestPath}/loki/api/v1/push`
    Object.assign(loki, { host: hostname, port: Number(port), uri, 'tls.ca_file': setting('KAPIS_CA') })
    return stringify({ service, pipeline })
  }

  it('has the version of the component', () => {
    const daemonSet = readFileSync(join(dirname(manifest), '../daemon-set.yaml'), 'utf8')
    expect(daemonSet).to.include(`image: fluent/fluent-bit:${fluentBitVersion}\n`)
  })

  it('sends 40,000 lines once: without permission for 15 s, after a lost connection, and after a SIGKILL of kapis-apiserver', async () => {
    const file = join(containers, `web-0_${scene.namespace}_web-${id}.log`)
    let number = 0
    const write = () => {
      const time = new Date().toISOString().slice(0, 19)
      const lines = Array.from({ length: 1000 }, (_, i) => {
        const stream = i % 2 === 0 ? 'stdout' : 'stderr'
        return `${time}.${String(i).padStart(9, '0')}Z ${stream} F line ${number++} of many\n`
      })
      appendFileSync(file, lines.join(''))
    }
    const faults: Readonly<Record<number, () => Promise<void> | void>> = {
      6: () => scene.revoke(),
      21: () => scene.grant(),
      26: () => scene.cut(2_000),
      30: () => scene.restart(),
    }
    const done: (Promise<void> | void)[] = []
    for (let second = 0; second < 40; second += 1) {
      write()
      done.push(faults[second]?.())
      await sleep(1000)
    }
    await Promise.all(done)
    const lines = await scene.found(scene.namespace, 40_000, 300_000)
    expectEachOnce(
      lines.map(({ log }) => Number(/^line (\d+) of many\n?$/.exec(log)?.[1])),
      40_000,
    )
    for (const { log, time, pod, container, fields } of lines) {
      const number = Number(log.split(' ')[1])
      expect([pod, container, fields?.stream]).to.deep.equal([
        ...['web-0', 'web'],
        number % 2 === 0 ? 'stdout' : 'stderr',
      ])
      // Fluent Bit parses fractions of a second as a double, which may lose a nanosecond.
      const nanoseconds = Number(time.slice(19, -1).padEnd(10, '0').slice(1))
      expect(nanoseconds).to.be.within(Math.max(0, (number % 1000) - 1), number % 1000)
    }
  })

  it('sends lines of a deleted pod with their origin, and JSON unchanged', async () => {
    const gone = `${scene.namespace}-gone`
    const time = new Date().toISOString().slice(0, 19)
    const lines = Array.from({ length: 500 }, (_, i) => `{"level":"error","n":${i}}`)
    appendFileSync(
      join(containers, `gone-1_${gone}_app-${id}.log`),
      lines.map((line, i) => `${time}.${String(i).padStart(9, '0')}Z stderr F ${line}\n`).join(''),
    )
    const found = await scene.found(gone, 500, 120_000)
    expect(found.map(({ log }) => log.trimEnd())).to.deep.equal(lines)
    for (const { pod, container } of found) expect([pod, container]).to.deep.equal(['gone-1', 'app'])
  })
})
