import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { createLogger } from '../telemetry/logger.ts'
import { createRegistry } from '../telemetry/metrics.ts'
import type { Config } from './config.ts'
import { ConfigError } from './config-error.ts'
import { ConfigFile } from './config-file.ts'
import { observeReloads } from './reload-metrics.ts'

describe('ConfigFile', () => {
  let folder = ''
  const running: ConfigFile[] = []
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'kapis-config-'))
  })
  afterEach(() => {
    for (const file of running.splice(0)) file.stop()
    rmSync(folder, { recursive: true })
  })

  function follow(
    text: string,
    {
      env = {},
      everyMs = 3_600_000,
    }: { readonly env?: Record<string, string>; readonly everyMs?: number } = {},
  ) {
    const path = join(folder, 'kapis.yaml')
    if (text !== '') writeFileSync(path, text)
    const file = new ConfigFile({ configFile: path, env }, everyMs)
    const lines: Record<string, unknown>[] = []
    const destination = { write: (line: string) => void lines.push(JSON.parse(line)) }
    const applied: Config[] = []
    file.start(createLogger({ program: 'test', level: 'info', destination }), live => applied.push(live))
    running.push(file)
    const write = (next: string) => {
      writeFileSync(path, next)
      file.read()
    }
    const last = () => {
      const { level, msg, followed, needRestart, problems } = lines.at(-1) ?? {}
      return { level, msg, followed, needRestart, problems }
    }
    return { file, path, lines, applied, write, last }
  }
  const again = (followed: readonly string[], needRestart: readonly string[] = []) => ({
    level: 'info',
    msg: 'reloaded the configuration',
    followed,
    needRestart,
    problems: undefined,
  })

  it('does not start with an invalid file', () => {
    expect(() => follow('logLevel: loud')).to.throw(ConfigError)
  })

  it('applies the reloadable options, notifies the program, and logs their names', () => {
    const { file, applied, write, last } = follow('logLevel: warn\naccessLog: false')
    const started = file.config
    write('logLevel: debug\nlimits: {requestsInFlight: 7}\nlisten: {trustedProxies: [10.0.0.0/8]}')
    const { logLevel, limits, listen } = file.live()
    expect([logLevel, limits.requestsInFlight, listen.trustedProxies]).to.deep.equal([
      'debug',
      7,
      ['10.0.0.0/8'],
    ])
    expect(applied).to.deep.equal([file.live()])
    expect(last()).to.deep.equal(again(['listen.trustedProxies', 'limits.requestsInFlight', 'logLevel']))
    expect(file.config, 'what stands from the start').to.equal(started)
  })

  it('names changed options that need a restart, until the restart', () => {
    const { applied, write, last } = follow('oauth: {accessTokenSeconds: 600}')
    write('oauth: {accessTokenSeconds: 700}\nhttp: {enabled: true}\naccessLog: true')
    const waiting = ['http.enabled', 'oauth.accessTokenSeconds']
    expect(last()).to.deep.equal(again(['accessLog'], waiting))
    expect(applied).to.have.length(1)
    write('oauth: {accessTokenSeconds: 600}\naccessLog: true')
    expect(last()).to.deep.equal(again([]))
    expect(applied, 'nothing that follows has changed').to.have.length(1)
  })

  it('reports that a changed secret needs a restart, without its value', () => {
    const store = (password: string) =>
      `logs: {store: opensearch, opensearch: {url: "http://o:9200", username: u, password: ${password}}}`
    const { lines, write, last } = follow(store('first-secret'))
    write(store('second-secret'))
    expect(last()).to.deep.equal(again([], ['logs.opensearch.password']))
    write('oauth: {clients: [{name: a, secret: third-secret}]}')
    expect(last().needRestart).to.include('oauth.clients')
    expect(JSON.stringify(lines)).to.not.match(/(first|second|third)-secret/)
  })

  it('keeps the last valid configuration when the new one is invalid, and logs every problem with its path', () => {
    const { file, write, last } = follow('logLevel: warn')
    write('logLevel: error')
    write('logLevel: debug\nlimits: {requestSeconds: 0}\nfrobnicate: 1')
    expect(file.live().logLevel).to.equal('error')
    expect(file.lastRead().isGood).to.equal(false)
    const { level, msg, problems } = last()
    expect([level, msg]).to.deep.equal(['error', 'invalid configuration; the previous one stays in use'])
    expect(problems).to.be.an('array').with.length(2)
    expect(JSON.stringify(problems))
      .to.include('"path":"limits.requestSeconds"')
      .and.include('"path":"frobnicate"')
    write('logLevel: info')
    expect([file.live().logLevel, file.lastRead().isGood]).to.deep.equal(['info', true])
  })

  it('still gives environment variables precedence over the file', () => {
    const { file, write, last } = follow('logLevel: warn', { env: { KAPIS_LOG_LEVEL: 'error' } })
    write('logLevel: debug')
    expect(file.live().logLevel).to.equal('error')
    expect(last()).to.deep.equal(again([]))
  })

  it('is read again on request, even if it is unchanged', () => {
    const { file, lines } = follow('logLevel: info')
    file.read()
    file.read()
    expect(lines).to.have.length(2)
  })

  it('reads nothing without a file', () => {
    const file = new ConfigFile({ env: { KAPIS_LOG_LEVEL: 'warn' } })
    const silent = createLogger({ program: 'test', level: 'error', destination: { write: () => undefined } })
    file.start(silent, () => undefined)
    file.read()
    expect([file.live().logLevel, file.lastRead().isGood]).to.deep.equal(['warn', true])
  })

  describe('polls the file', () => {
    const everyMs = 20
    async function until(check: () => boolean, what: string): Promise<void> {
      const deadline = Date.now() + 20_000
      while (!check()) {
        if (Date.now() > deadline) throw new Error(`timed out waiting for ${what}`)
        await sleep(5)
      }
    }

    it('that an editor writes in place or renames', async () => {
      const { file, path } = follow('logLevel: warn', { everyMs })
      writeFileSync(path, 'logLevel: error')
      await until(() => file.live().logLevel === 'error', 'written')
      writeFileSync(`${path}.new`, 'logLevel: debug')
      renameSync(`${path}.new`, path)
      await until(() => file.live().logLevel === 'debug', 'renamed')
    })

    it('that the kubelet replaces by a new target of the symlink ..data', async () => {
      const put = (version: string, text: string) => {
        mkdirSync(join(folder, version))
        writeFileSync(join(folder, version, 'kapis.yaml'), text)
        symlinkSync(version, join(folder, '..data_tmp'))
        renameSync(join(folder, '..data_tmp'), join(folder, '..data'))
      }
      put('..1', 'logLevel: warn')
      symlinkSync('..data/kapis.yaml', join(folder, 'kapis.yaml'))
      const { file, lines } = follow('', { everyMs })
      put('..2', 'logLevel: debug')
      rmSync(join(folder, '..1'), { recursive: true })
      await until(() => file.live().logLevel === 'debug', 'the second')
      put('..3', 'logLevel: [')
      await until(() => !file.lastRead().isGood, 'the third')
      put('..4', 'logLevel: error')
      await until(() => file.live().logLevel === 'error', 'the fourth')
      expect(lines).to.have.length(3)
    })

    it('and reports an invalid or missing file once', async () => {
      const { file, path, lines } = follow('logLevel: info', { everyMs })
      writeFileSync(`${path}.new`, 'logLevel: loud')
      renameSync(`${path}.new`, path)
      await until(() => lines.length > 0, 'the mistake')
      await sleep(everyMs * 5)
      expect(lines).to.have.length(1)
      const good = readFileSync(path, 'utf8').replace('loud', 'info')
      unlinkSync(path)
      await until(() => lines.length > 1, 'the file that is gone')
      await sleep(everyMs * 5)
      expect(JSON.stringify(lines[1])).to.include('"path":"--config","message":"ENOENT')
      expect(lines).to.have.length(2)
      writeFileSync(path, good)
      await until(() => file.lastRead().isGood, 'the file again')
    })
  })

  it('exports the reload metrics that Prometheus has', async () => {
    const { file, write } = follow('logLevel: info')
    const registry = createRegistry()
    observeReloads(registry, file)
    const read = async (name: string) =>
      Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(await registry.metrics())?.[1])
    const successful = 'kapis_config_last_reload_successful'
    const at = 'kapis_config_last_reload_success_timestamp_seconds'
    expect(await read(successful)).to.equal(1)
    const first = await read(at)
    expect(first).to.be.within(Date.now() / 1000 - 60, Date.now() / 1000)
    write('logLevel: loud')
    expect([await read(successful), await read(at)]).to.deep.equal([0, first])
    await sleep(5)
    write('logLevel: warn')
    expect(await read(successful)).to.equal(1)
    expect(await read(at)).to.be.above(first)
  })
})
