import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { expect } from 'chai'
import { parse } from 'yaml'
import { accessToken } from './cluster.ts'
import { eventually, sendAs } from './http.ts'
import { scratch, setting } from './run.ts'

const program = resolve(import.meta.dirname, '../../cmd/apiserver/main.ts')
const mount = join(scratch, 'config-reload')
const given = parse(readFileSync(join(dirname(setting('KUBECONFIG')), 'kapis.yaml'), 'utf8'))

type Line = { readonly level: string; readonly msg: string; readonly [member: string]: unknown }

describe('the configuration file of a running kapis-apiserver', function () {
  this.timeout(90_000)
  let front: ChildProcess
  let server = ''
  let token = ''
  let version = 0
  const lines: Line[] = []

  /** Replaces files in the same way as the kubelet after a change of a ConfigMap. */
  function mountConfig(changes: object): void {
    const folder = `..${++version}`
    mkdirSync(join(mount, folder), { recursive: true })
    const config = { ...given, ...own, ...changes }
    writeFileSync(join(mount, folder, 'kapis.yaml'), JSON.stringify(config))
    symlinkSync(folder, join(mount, '..data_tmp'))
    renameSync(join(mount, '..data_tmp'), join(mount, '..data'))
  }
  const own = {
    listen: { ...given.listen, port: 0 },
    logs: { store: 'none' },
    logLevel: 'info',
    accessLog: false,
  }
  const said = (msg: string) => lines.filter(line => line.msg === msg)
  const requestsLogged = () => said('request').length
  const readyz = () => sendAs(token, `${server}/readyz`)
  async function metric(name: string): Promise<number> {
    const { body } = await sendAs(token, `${server}/metrics`)
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(body)?.[1])
  }

  before(async () => {
    token = await accessToken()
    mountConfig({})
    symlinkSync('..data/kapis.yaml', join(mount, 'kapis.yaml'))
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('KAPIS_')))
    front = spawn(process.execPath, [program, '--config', join(mount, 'kapis.yaml')], {
      env: { ...env, NODE_NO_WARNINGS: '1' },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    if (front.stderr) createInterface(front.stderr).on('line', line => lines.push(JSON.parse(line)))
    await eventually(async () => {
      const line = said('listening')[0]
      if (line === undefined) throw new Error(`it does not listen: ${JSON.stringify(lines)}`)
      server = `https://127.0.0.1:${line.port}`
      expect((await readyz()).code).to.equal(200)
    }, 60_000)
  })
  after(async () => {
    if (front === undefined || front.exitCode !== null) return
    const exited = once(front, 'exit')
    front.kill('SIGKILL')
    await exited
  })

  it('is reloaded for reloadable options, and the log names all others', async () => {
    await readyz()
    expect(requestsLogged()).to.equal(0)
    mountConfig({
      accessLog: true,
      limits: { requestsInFlight: 399 },
      service: { ...given.service, name: 'another' },
    })
    await eventually(async () => expect(said('reloaded the configuration')).to.have.length(1), 30_000)
    const [line] = said('reloaded the configuration')
    expect(line?.followed).to.deep.equal(['limits.requestsInFlight', 'accessLog'])
    expect(line?.needRestart).to.deep.equal(['service.name'])
    await readyz()
    await eventually(async () => expect(requestsLogged()).to.be.above(0), 20_000)
  })

  it('keeps its last valid values when it becomes invalid, with a log message', async () => {
    expect(await metric('kapis_config_last_reload_successful')).to.equal(1)
    const good = await metric('kapis_config_last_reload_success_timestamp_seconds')
    mountConfig({ accessLog: 'sometimes', limits: { requestSeconds: 0 } })
    front.kill('SIGHUP')
    await eventually(
      async () => expect(await metric('kapis_config_last_reload_successful')).to.equal(0),
      20_000,
    )
    expect(await metric('kapis_config_last_reload_success_timestamp_seconds')).to.equal(good)
    const [line] = said('invalid configuration; the previous one stays in use')
    expect(JSON.stringify(line?.problems)).to.match(/"path":"limits.requestSeconds".*"path":"accessLog"/)
    const before = requestsLogged()
    await readyz()
    await eventually(async () => expect(requestsLogged()).to.be.above(before), 20_000)
  })

  it('is reloaded immediately on SIGHUP', async () => {
    mountConfig({ logLevel: 'error' })
    const readBefore = said('reloaded the configuration').length
    front.kill('SIGHUP')
    await eventually(async () => {
      expect(await metric('kapis_config_last_reload_successful')).to.equal(1)
      expect(said('reloaded the configuration').length).to.be.above(readBefore)
    }, 20_000)
    expect(said('reloaded the configuration').at(-1)?.followed).to.include.members(['accessLog', 'logLevel'])
    const before = lines.length
    await readyz()
    expect(lines.length, 'at this level requests are not logged').to.equal(before)
  })
})
