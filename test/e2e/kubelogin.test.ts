import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect } from 'chai'
import { sendToKube, uniqueName } from './cluster.ts'
import { buildGo, goBuildTimeoutMs, hasGo } from './go-program.ts'
import { platformPath, sendAs } from './http.ts'
import { claimsOf, createUser, removeUser } from './oauth.ts'
import { csrfOf, logInBrowser } from './oauth-browser.ts'
import { createClient, issuerUrl, removeClient } from './oauth-clients.ts'
import { follow, output, type RunningCommand, scratch, setting } from './run.ts'

const source = join(import.meta.dirname, '..', 'kubelogin')
const program = join(scratch, 'kubelogin')

/**
 * kubelogin, a credential plugin for any OpenID provider, with its default flags: each grant, and
 * its refresh.
 */
describe('kubelogin', function () {
  this.timeout(120_000)
  const user = { username: uniqueName('kubelogin'), password: 'Correct horse 1' }
  const trusted = { name: uniqueName('kubelogin'), secret: 'client secret', trusted: true }
  const native = { name: uniqueName('native'), public: true }
  let port = 0

  before(async function () {
    this.timeout(goBuildTimeoutMs)
    if (!(await hasGo('kubelogin'))) this.skip()
    await buildGo('kubelogin', ['build', '-o', program, 'github.com/int128/kubelogin'], source)
    port = await freePort()
    await createUser(user, { groups: ['e2e-kubelogin'] })
    await createClient(trusted)
    await createClient({ ...native, redirectURIs: [`http://localhost:${port}`] })
  })
  after(async () => {
    for (const { name } of [trusted, native]) await removeClient(name)
    await removeUser(user.username)
  })

  async function flags(clientId: string, ...more: readonly string[]): Promise<string[]> {
    return [
      'get-token',
      `--oidc-issuer-url=${await issuerUrl()}`,
      `--oidc-client-id=${clientId}`,
      `--certificate-authority=${setting('KAPIS_CA')}`,
      `--token-cache-dir=${join(scratch, `kubelogin-${clientId}`)}`,
      '--oidc-extra-scope=profile',
      ...more,
    ]
  }
  /** Messages for users are on standard error. */
  const launch = (args: readonly string[]) => follow('sh', ['-c', 'exec "$0" "$@" 2>&1', program, ...args])
  const tokenOf = (credential: string): string => JSON.parse(credential).status.token
  const expected = (aud: string) => ({ aud, sub: user.username, groups: ['e2e-kubelogin'] })

  /** Expects that the refresh token of the stored login results in another token. */
  async function expectRefreshed(token: string, args: readonly string[]): Promise<void> {
    const next = claimsOf(tokenOf(await output(program, [...args, '--force-refresh'])))
    const { sub, aud, sid, auth_time, jti } = claimsOf(token)
    expect(next).to.include({ sub, aud, sid, auth_time }).and.not.include({ jti })
  }

  it('gets an ID token with a password, and refreshes it', async () => {
    const args = await flags(
      trusted.name,
      `--oidc-client-secret=${trusted.secret}`,
      ...['--grant-type=password', `--username=${user.username}`, `--password=${user.password}`],
    )
    const token = tokenOf(await output(program, args))
    expect(claimsOf(token)).to.deep.include(expected(trusted.name))
    await expectRefreshed(token, args)
  })

  it('gets an ID token with a browser, and refreshes it', async () => {
    const args = await flags(native.name, `--listen-address=127.0.0.1:${port}`, '--skip-open-browser')
    const running = launch(args)
    try {
      const start = await untilListening(`http://localhost:${port}/`)
      const logged = await logInBrowser(user)
      const back = await logged.open(start, url => url.port === String(port))
      await fetch(String(back.headers.location))
      const token = tokenOf(await running.line(line => line.startsWith('{'), 20_000))
      expect(claimsOf(token)).to.deep.include(expected(native.name))
      await expectRefreshed(token, args)
    } finally {
      await running.stop()
    }
  })

  /** Decides on the device page about the login that kubelogin has started. */
  async function decide(running: RunningCommand, decision: 'allow' | 'deny'): Promise<void> {
    const said = await running.line(line => line.includes('/device?user_code='), 20_000)
    const [link = ''] = /https:\S+\/device\?user_code=\S+/.exec(said) ?? []
    const agent = await logInBrowser(user)
    const page = await agent.open(link)
    const user_code = new URL(link).searchParams.get('user_code') ?? ''
    await agent.submit(page, { csrf: csrfOf(page), user_code, username: user.username, decision })
  }
  const onDevice = (...more: readonly string[]) =>
    flags(native.name, '--grant-type=device-code', '--skip-open-browser', ...more)

  it('gets an ID token on a device without a browser, stores it, and refreshes it', async () => {
    const args = await onDevice(`--token-cache-dir=${join(scratch, 'kubelogin-device')}`)
    const running = launch(args)
    try {
      await decide(running, 'allow')
      const token = tokenOf(await running.line(line => line.startsWith('{'), 30_000))
      expect(claimsOf(token)).to.deep.include(expected(native.name))
      expect(tokenOf(await output(program, args))).to.equal(token)
      await expectRefreshed(token, args)
    } finally {
      await running.stop()
    }
  })

  it('reports that the user has denied the login of the device', async () => {
    const running = launch(await onDevice('--token-cache-storage=none'))
    try {
      await decide(running, 'deny')
      await running.line(line => line.includes('access_denied (the user denied access)'), 30_000)
      expect(await running.ended).to.equal(1)
    } finally {
      await running.stop()
    }
  })

  it('is a credential plugin of kubectl, as docs/login.md configures it', async () => {
    // In another folder: kubectl config makes the path of a program next to the kubeconfig relative,
    // and then searches PATH for it.
    const kubeconfig = join(scratch, 'kubelogin-kubeconfig', 'config')
    const config = (...args: readonly string[]) =>
      output('kubectl', ['config', '--kubeconfig', kubeconfig, ...args])
    const args = await flags(
      trusted.name,
      `--oidc-client-secret=${trusted.secret}`,
      '--oidc-use-access-token',
      ...['--grant-type=password', `--username=${user.username}`, `--password=${user.password}`],
    )
    await config(
      'set-cluster',
      'c',
      `--server=${setting('KAPIS_URL')}`,
      `--certificate-authority=${setting('KAPIS_CA')}`,
    )
    await config(
      ...['set-credentials', 'me', '--exec-api-version=client.authentication.k8s.io/v1'],
      ...['--exec-interactive-mode=Never', `--exec-command=${program}`],
      ...args.map(arg => `--exec-arg=${arg}`),
    )
    await config('set-context', 'c', '--cluster=c', '--user=me')
    const whoami = ['--kubeconfig', kubeconfig, '--context=c', 'auth', 'whoami', '-o', 'json']
    const { userInfo } = JSON.parse(await output('kubectl', whoami)).status
    expect(userInfo).to.deep.include({
      username: user.username,
      groups: ['e2e-kubelogin', 'system:authenticated'],
    })
  })

  it('logs in to Kapis and kube-apiserver with the access token and --oidc-use-access-token', async () => {
    const password = ['--grant-type=password', `--username=${user.username}`, `--password=${user.password}`]
    const args = await flags(trusted.name, `--oidc-client-secret=${trusted.secret}`, ...password)
    const credential = await output(program, [
      ...args,
      '--oidc-use-access-token',
      '--token-cache-storage=none',
    ])
    const token = tokenOf(credential)
    for (const response of [await sendAs(token, platformPath), await sendToKube(token, '/api/v1/nodes')]) {
      expect(response.code).to.equal(403)
      expect(JSON.parse(response.body).message).to.include(`User "${user.username}"`)
    }
  })
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  const address = server.address()
  await new Promise(resolve => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

/** Returns the URL to which kubelogin redirects a browser that opens its page. */
async function untilListening(url: string): Promise<string> {
  const deadline = Date.now() + 20_000
  for (;;) {
    try {
      const { headers } = await fetch(url, { redirect: 'manual' })
      return headers.get('location') ?? ''
    } catch (error) {
      if (Date.now() > deadline) throw error
      await new Promise(resolve => setTimeout(resolve, 100))
    }
  }
}
