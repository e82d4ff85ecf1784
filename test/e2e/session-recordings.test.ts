import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'chai'
import { WebSocket } from 'ws'
import { type ApiserverReplica, startApiserver } from './apiserver-replica.ts'
import { keepScreenshot, openWindow, startChromium } from './chromium.ts'
import { accessToken, kubectl, kubectlOutput, makeNamespace, tokenOf, uniqueName } from './cluster.ts'
import { eventually, groupDomain, sendAs } from './http.ts'
import { createPerson } from './kapis.ts'
import { run, scratch, setting } from './run.ts'

type Item = {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly creationTimestamp: string }
  readonly spec: Readonly<Record<string, unknown>>
  readonly status: Readonly<Record<string, unknown>>
}

const namespace = uniqueName('recorded')
const notice = 'This session is recorded (policy recorded).'

describe('session recordings', function () {
  this.timeout(90_000)
  const person = createPerson('reviewer')
  let replica: ApiserverReplica
  let administrator: string
  let token: string
  let path: string

  before(async () => {
    await makeNamespace(namespace, ['operator', 'reviewer', 'other'])
    administrator = await accessToken()
    token = await tokenOf(namespace, 'operator')
    path = `/kapis/logging.${groupDomain}/v1alpha2/namespaces/${namespace}/sessionrecordings`
    const given = JSON.parse(readFileSync(join(dirname(setting('KUBECONFIG')), 'kapis.yaml'), 'utf8'))
    const config = join(scratch, 'recordings.json')
    const policies = [{ name: 'recorded', namespaces: [namespace] }]
    const embedded = { ...given.logs?.embedded, folder: join(scratch, 'recordings-logs') }
    const logs = { ...given.logs, store: 'embedded', embedded, recordings: { policies } }
    writeFileSync(config, JSON.stringify({ ...given, logs }))
    replica = await startApiserver({ env: {}, config })
    const verbs = ['--verb=get,create', '--resource=pods,pods/exec,pods/attach']
    await kubectlOutput('create', 'role', 'exec', '-n', namespace, ...verbs)
    for (const [account, role] of [
      ['operator', '--role=exec'],
      ['reviewer', '--clusterrole=kapis:session-recordings-reader'],
    ] as const) {
      const subject = `--serviceaccount=${namespace}:${account}`
      await kubectlOutput('create', 'rolebinding', account, '-n', namespace, role, subject)
    }
    const pod = { spec: { nodeName: 'worker-1', containers: [{ name: 'web', image: 'web' }] } }
    await kubectlOutput('run', 'web', '-n', namespace, '--image=web', `--overrides=${JSON.stringify(pod)}`)
    await kubectlOutput('wait', '-n', namespace, 'pod/web', '--for=condition=Ready', '--timeout=60s')
  })
  after(async () => {
    await replica?.stop()
    await kubectl('delete', 'namespace', namespace, '--wait=false')
  })

  async function list(as = administrator): Promise<readonly Item[]> {
    const response = await sendAs(as, `${replica.server}${path}`)
    expect(response.code, response.body).to.equal(200)
    return JSON.parse(response.body).items
  }

  /** Returns the last session after it has ended. */
  async function lastSession(): Promise<Item> {
    let found: Item | undefined
    await eventually(async () => {
      found = (await list())[0]
      if (found?.status.endTimestamp === undefined) throw new Error('no session has ended')
    }, 20_000)
    if (found === undefined) throw new Error('no session')
    return found
  }

  async function outputOf({ metadata }: Item): Promise<string> {
    const { code, body } = await sendAs(administrator, `${replica.server}${path}/${metadata.name}`)
    expect(code, body).to.equal(200)
    const [header, ...events] = body
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line))
    expect(header).to.include({ version: 2 })
    return events.flatMap(([, code, data]) => (code === 'o' ? [data] : [])).join('')
  }
  const exec = (...command: readonly string[]) =>
    replica.kubectl(token, 'exec', '-n', namespace, 'web', '--', ...command)

  it('contain a kubectl command, its user, and its output', async () => {
    const { code, stdout, stderr } = await exec('sh', '-c', 'echo out; echo err >&2')
    expect([code, stdout]).to.deep.equal([0, 'out\n'])
    expect(stderr.split('\n').slice(0, 2)).to.deep.equal([notice, 'err'])
    const { metadata, spec, status } = await lastSession()
    expect(spec).to.deep.include({
      ...{ pod: 'web', container: 'web', subresource: 'exec', tty: false, policy: 'recorded' },
      command: ['sh', '-c', 'echo out; echo err >&2'],
      user: `system:serviceaccount:${namespace}:operator`,
    })
    expect(status).to.include({ outputBytes: 8, reason: '' })
    const text = await outputOf(await lastSession())
    expect(text.replaceAll('\r', '').split('\n').toSorted()).to.deep.equal(['', 'err', 'out'])
    expect(metadata.namespace).to.equal(namespace)
  })

  /** Removes the echo of the end of input, which `script` types. */
  const typed = (text: string) => text.replaceAll('^@', '').replaceAll('\r', '')

  it('contain a terminal with its size', async () => {
    const { stdout } = await replica.terminal(
      token,
      'exec',
      '-it',
      '-n',
      namespace,
      'web',
      '--',
      'sh',
      '-c',
      // The pause is required because kwok loses the output of a terminal that ends immediately.
      'echo typed; sleep 1',
    )
    expect(typed(stdout)).to.equal(`${notice}\ntyped\n`)
    const session = await lastSession()
    expect(session.spec).to.include({ tty: true })
    expect(typed(await outputOf(session))).to.equal('typed\n')
  })

  it('contain all of a large output', async () => {
    const lines = 50_000
    const { code, stdout } = await exec('seq', String(lines))
    expect([code, stdout.split('\n').length]).to.deep.equal([0, lines + 1])
    const session = await lastSession()
    expect(await outputOf(session)).to.equal(stdout)
    expect(session.status.outputBytes).to.equal(stdout.length)
  })

  it('do not contain input, which is passed on', async () => {
    const target = [
      '--server',
      replica.server,
      '--certificate-authority',
      setting('KAPIS_CA'),
      '--token',
      token,
    ]
    const command = [
      'exec',
      '-i',
      '-n',
      namespace,
      'web',
      '--',
      'sh',
      '-c',
      'read secret; expr length $secret',
    ]
    const { stdout } = await run('kubectl', ['--kubeconfig', '/dev/null', ...target, ...command], {
      stdin: 'hunter22\n',
    })
    expect(stdout).to.equal('8\n')
    expect(await outputOf(await lastSession())).to.equal('8\n')
  })

  it('contain sessions of an impersonated user, too', async () => {
    const user = `system:serviceaccount:${namespace}:operator`
    const args = ['exec', '--as', user, '-n', namespace, 'web', '--', 'true']
    expect((await replica.kubectl(administrator, ...args)).code).to.equal(0)
    const { spec } = await lastSession()
    expect([spec.user, spec.impersonator === '']).to.deep.equal([user, false])
  })

  it('are not supported with SPDY, which is rejected', async () => {
    const before = await list()
    const target = [
      '--server',
      replica.server,
      '--certificate-authority',
      setting('KAPIS_CA'),
      '--token',
      token,
    ]
    const args = ['--kubeconfig', '/dev/null', ...target, 'exec', '-n', namespace, 'web', '--', 'true']
    const { code, stderr } = await run('kubectl', args, {
      env: { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'false' },
    })
    expect(code).to.equal(1)
    expect(stderr).to.include('requires a client that uses WebSocket, such as kubectl 1.31 or later')
    expect((await list()).length).to.equal(before.length)
  })

  it('do not contain other namespaces, nor sessions that kube-apiserver rejects', async () => {
    const before = await list()
    const pods = await kubectlOutput('get', 'pods', '-n', 'default', '-o', 'name')
    const [pod = ''] = pods.split('\n')
    const { stderr } = await replica.kubectl(administrator, 'exec', '-n', 'default', pod, '--', 'true')
    expect(stderr).to.not.include(notice)
    const other = await tokenOf(namespace, 'other')
    const refused = await replica.kubectl(other, 'exec', '-n', namespace, 'web', '--', 'true')
    expect([refused.code, /forbidden/i.test(refused.stderr)]).to.deep.equal([1, true])
    expect((await list()).length).to.equal(before.length)
  })

  it('cannot be bypassed through the kubelet', async () => {
    for (const prefix of ['/api', '/kapi', '/clusters/host/kapi']) {
      const path = `${prefix}/v1/nodes/worker-1/proxy/run/${namespace}/web/web?cmd=id`
      const { code, body } = await sendAs(administrator, `${replica.server}${path}`, { method: 'POST' })
      expect([code, JSON.parse(body).message]).to.deep.equal([
        403,
        'sessions of this user must be recorded, which is not possible for commands that the kubelet runs: use exec of the pod',
      ])
    }
  })

  it('can be read only with permission', async () => {
    expect((await list(await tokenOf(namespace, 'reviewer'))).length).to.be.greaterThan(0)
    const refused = await sendAs(token, `${replica.server}${path}`)
    expect([refused.code, JSON.parse(refused.body).message]).to.deep.equal([
      403,
      `sessionrecordings.logging.${groupDomain} is forbidden: User "system:serviceaccount:${namespace}:operator" cannot list resource "sessionrecordings" in API group "logging.${groupDomain}" in the namespace "${namespace}"`,
    ])
  })

  it('contain terminals of consoles', async () => {
    const url = `${replica.server.replace(/^http/, 'ws')}/kapis/terminal.${groupDomain}/v1alpha2/namespaces/${namespace}/pods/web/exec?shell=sh`
    const webSocket = new WebSocket(url, {
      ca: readFileSync(setting('KAPIS_CA')),
      headers: { authorization: `Bearer ${token}` },
    })
    let output = ''
    webSocket.on('message', data => {
      const { Op, Data } = JSON.parse(String(data))
      if (Op === 'stdout') output += Data
    })
    await once(webSocket, 'open')
    webSocket.send(JSON.stringify({ Op: 'resize', Cols: 100, Rows: 30 }))
    webSocket.send(JSON.stringify({ Op: 'stdin', Data: 'echo $((6 * 7))\n' }))
    await eventually(async () => expect(output).to.contain('42'), 10_000)
    webSocket.send(JSON.stringify({ Op: 'stdin', Data: 'exit\n' }))
    await once(webSocket, 'close')
    expect(output.startsWith(`${notice}\r\n`)).to.equal(true)
    const session = await lastSession()
    expect(session.spec).to.deep.include({ command: ['sh'], tty: true, pod: 'web' })
    expect(`${notice}\r\n${await outputOf(session)}`).to.equal(output)
  })

  it('can be listed and played by kapis', async () => {
    const { metadata } = await (async () => {
      await exec('echo', 'played')
      return lastSession()
    })()
    const env = { KAPIS_TOKEN: await tokenOf(namespace, 'reviewer'), KAPIS_URL: replica.server }
    const kapis = (...args: readonly string[]) => person.kapis(['sessions', ...args], { env })
    const listed = await kapis('list', '-n', namespace)
    expect([listed.code, listed.stderr]).to.deep.equal([0, ''])
    expect(listed.stdout.split('\n')[1]).to.match(
      new RegExp(
        `^${metadata.name} +${namespace} +web +system:serviceaccount:${namespace}:operator +echo played`,
      ),
    )
    const played = await kapis('play', metadata.name, '-n', namespace, '--speed', '100')
    expect([played.code, played.stdout.startsWith('played\n')]).to.deep.equal([0, true])
    expect((await kapis('get', metadata.name, '-n', namespace)).stdout).to.match(/^\{"version":2,/)
    expect((await kapis('get', 'none', '-n', namespace)).stderr).to.equal(
      `kapis sessions: failed to read the recording: sessionrecordings.logging.${groupDomain} "none" not found\n`,
    )
  })

  it('can be played on the page, which shows output as text', async () => {
    const script = String.raw`printf '\033[1;31m<img src=x onerror=alert(1)>\033[0m\n'; sleep 1; printf 'hidden: \033[8msecret\033[0m \033[38;2;1;2;3mlast\n'`
    await exec('sh', '-c', script)
    const { metadata } = await lastSession()
    const browser = await startChromium()
    try {
      const page = await openWindow(browser, {
        javaScriptEnabled: true,
        viewport: { width: 1200, height: 800 },
      })
      const cookie = {
        name: '__Secure-kapis-logs',
        httpOnly: true,
        secure: true,
        sameSite: 'Strict',
      } as const
      const value = await tokenOf(namespace, 'reviewer')
      await page.context().addCookies([{ ...cookie, value, url: `${replica.server}/logs` }])
      const problems: string[] = []
      page.on('console', message => problems.push(message.text()))
      page.on('pageerror', error => problems.push(String(error)))
      await page.goto(`${replica.server}/logs/recordings?namespace=${namespace}`)
      const first = page.locator('.recording').first()
      expect(await first.locator('.who').textContent()).to.equal(
        `system:serviceaccount:${namespace}:operator`,
      )
      await first.click()
      expect(new URL(page.url()).searchParams.get('name')).to.equal(metadata.name)
      const rows = () => page.locator('#screen div').allTextContents()
      await eventually(async () => {
        const [one = '', two = ''] = await rows()
        expect([one.trimEnd(), two.trimEnd()]).to.deep.equal([
          '<img src=x onerror=alert(1)>',
          'hidden: secret last',
        ])
      }, 20_000)
      const look = async (text: string) => {
        const element = page.getByText(text, { exact: true })
        return [await element.getAttribute('style'), await element.getAttribute('class')]
      }
      expect(await look('<img src=x onerror=alert(1)>')).to.deep.equal(['color: var(--color-1);', 'bold'])
      expect(await look('last')).to.deep.equal(['color: rgb(1, 2, 3);', ''])
      await page.getByRole('button', { name: 'Play' }).waitFor()
      await keepScreenshot(page, 'recording')
      // Seeks to the time before the second line.
      await page.locator('#position').fill('0')
      await eventually(async () => expect((await rows())[1]?.trim()).to.equal(''), 10_000)
      await page.locator('#screen').press('ArrowRight')
      await eventually(async () => expect((await rows())[1]?.trim()).to.equal('hidden: secret last'), 10_000)
      await page.setViewportSize({ width: 360, height: 740 })
      await page.emulateMedia({ colorScheme: 'dark' })
      expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(360)
      await keepScreenshot(page, 'recording-360-dark')
      await page.getByLabel('Namespace').fill('default')
      await page.getByRole('button', { name: 'Search' }).click()
      await page.getByRole('alert').getByText('cannot list resource "sessionrecordings"').waitFor()
      expect(problems.filter(text => !text.includes('403'))).to.deep.equal([])
    } finally {
      await browser.close()
    }
  })
})
