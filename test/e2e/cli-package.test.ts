import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { repository } from '../../hack/controlplane/settings.ts'
import { output, run, scratch, setting } from './run.ts'

describe('the npm package of the CLI', function () {
  this.timeout(300_000)
  const folder = join(scratch, 'installed')
  const env = {
    KAPIS_HOME: join(folder, 'home'),
    KUBECONFIG: join(folder, 'kubeconfig'),
    KAPIS_CA: setting('KAPIS_CA'),
    KAPIS_URL: setting('KAPIS_URL'),
    KAPIS_CLIENT_ID: setting('KAPIS_CLIENT_ID'),
    KAPIS_CLIENT_SECRET: setting('KAPIS_CLIENT_SECRET'),
  }
  const kapis = (args: readonly string[], stdin = '') =>
    run(join(folder, 'node_modules/.bin/kapis'), args, { env, cwd: folder, stdin })

  let tarball = ''

  before(async () => {
    const packed = join(scratch, 'packed')
    await output(process.execPath, [join(repository, 'hack/pack.ts'), packed], { timeoutMs: 120_000 })
    mkdirSync(folder, { recursive: true })
    tarball = join(packed, readdirSync(packed)[0] ?? '')
    const options = ['--offline', '--ignore-scripts', '--no-audit', '--no-fund']
    // An empty cache, so that neither a registry nor leftovers of an earlier installation are used.
    const cache = ['--cache', join(scratch, 'npm-cache')]
    await output('npm', ['install', ...options, ...cache, tarball], {
      cwd: folder,
      timeoutMs: 150_000,
    })
  })

  it('lists the commands, each of which can be loaded', async () => {
    const { code, stdout } = await kapis(['--help'])
    const names = [...stdout.matchAll(/^ {2}([a-z-]+) {2}/gm)].map(([, name = '']) => name)
    expect([code, names.includes('login'), names.includes('whoami')]).to.deep.equal([0, true, true])
    for (const name of names) {
      const helped = await kapis(['help', name])
      expect([helped.code, helped.stderr]).to.deep.equal([0, ''])
      expect(helped.stdout).to.match(new RegExp(`^usage: kapis ${name} `))
    }
  })

  it('logs in, and prints the user', async () => {
    const login = await kapis(
      ['login', '--username', setting('KAPIS_USER')],
      `${setting('KAPIS_PASSWORD')}\n`,
    )
    expect(login.code, login.stderr).to.equal(0)
    const { code, stdout } = await kapis(['whoami'])
    expect([code, stdout.includes(setting('KAPIS_USER'))], stdout).to.deep.equal([0, true])
  })

  it('prints the manifests', async () => {
    const { code, stdout } = await kapis(['manifests', '--overlay', 'ha'])
    expect([code, stdout.includes('kind: Deployment')]).to.deep.equal([0, true])
  })

  it('names what is missing for a kubeconfig with an exec plugin', async () => {
    const config = {
      'current-context': 'c',
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
      clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
      users: [{ name: 'u', user: { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'x' } } }],
    }
    const file = join(folder, 'plugin.kubeconfig')
    writeFileSync(file, JSON.stringify(config))
    const { code, stderr } = await kapis(['doctor', '--kubeconfig', file])
    expect([code, stderr]).to.deep.equal([
      1,
      `kapis doctor: kubeconfig ${file} uses an exec plugin or an auth provider, which needs the package @kubernetes/client-node\n`,
    ])
  })

  it('writes an exec plugin command that still works after npx has ended and npm has emptied its cache', async () => {
    const cache = join(scratch, 'npx-cache')
    const home = join(folder, 'npx')
    const own = {
      ...env,
      KAPIS_HOME: home,
      KUBECONFIG: join(home, 'config'),
      XDG_DATA_HOME: join(home, 'data'),
    }
    const npx = ['--yes', '--offline', '--cache', cache, '--package', tarball, 'kapis']
    const login = [...npx, 'login', '--username', setting('KAPIS_USER')]
    const stdin = `${setting('KAPIS_PASSWORD')}\n`
    const ran = await run('npx', login, { env: own, cwd: folder, stdin, timeoutMs: 120_000 })
    expect(ran.code, ran.stderr).to.equal(0)
    rmSync(cache, { recursive: true })
    expect(readFileSync(own.KUBECONFIG, 'utf8')).to.not.include(cache)
    const who = await run('kubectl', ['auth', 'whoami'], { env: own })
    expect([who.code, who.stdout.includes(setting('KAPIS_USER'))], who.stderr).to.deep.equal([0, true])
    expect(readdirSync(join(own.XDG_DATA_HOME, 'kapis'))).to.have.length(1)
  })

  it('names the required Node.js version if it runs on an older one', async () => {
    const old =
      'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.20.2" } })'
    const main = join(folder, 'node_modules/kapis/cmd/kapis/main.js')
    const ran = await run(process.execPath, ['--import', `data:text/javascript,${old}`, main, 'whoami'])
    expect([ran.code, ran.stdout]).to.deep.equal([1, ''])
    expect(ran.stderr).to.match(
      /^kapis needs Node\.js 24\.9 or newer; this is v\S+ \(\/.*\)\. See https:\/\/nodejs\.org\n$/,
    )
    // An old Node.js must be able to parse the first file, whose version check precedes all
    // imports.
    expect(readFileSync(main, 'utf8')).to.not.match(/^import|\?\?|\?\./m)
  })

  it('contains only the files that it needs', () => {
    const packages = readdirSync(join(folder, 'node_modules')).filter(name => !name.startsWith('.'))
    expect(packages).to.deep.equal(['kapis'])
    const inside = readFileSync(join(folder, 'node_modules/kapis/package.json'), 'utf8')
    expect(Object.keys(JSON.parse(inside).dependencies)).to.deep.equal([
      'jose',
      'ldapts',
      'undici',
      'yaml',
      'zod',
    ])
    expect(readdirSync(join(folder, 'node_modules/kapis/cmd'))).to.deep.equal(['kapis'])
  })
})
