import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { WebSocket } from 'ws'
import { type Accounts, createAccounts } from './account.ts'
import { accessToken, kubectlJson, kubectlOutput, uniqueName } from './cluster.ts'
import { apply, eventually, groupDomain, sendAs } from './http.ts'
import { setting } from './run.ts'

type Message = { readonly Op: string; readonly Data: string }

/** Opens a terminal like the console of KubeSphere. */
function openTerminal(token: string, target: string) {
  const url = `${setting('KAPIS_URL').replace(/^http/, 'ws')}/kapis/terminal.${groupDomain}/v1alpha2${target}`
  const webSocket = new WebSocket(url, {
    ca: readFileSync(setting('KAPIS_CA')),
    headers: { authorization: `Bearer ${token}` },
  })
  const state = { output: '', toast: '', isEnded: false, refused: '' }
  webSocket.on('message', data => {
    const { Op, Data }: Message = JSON.parse(String(data))
    if (Op === 'stdout') state.output += Data
    else state.toast += Data
  })
  webSocket.on('close', () => {
    state.isEnded = true
  })
  webSocket.on('error', () => undefined)
  webSocket.on('unexpected-response', async (_request, response) => {
    const body = Buffer.concat(await response.toArray()).toString('utf8')
    state.refused = `${response.statusCode} ${JSON.parse(body).message}`
  })
  const send = (message: object) => webSocket.send(JSON.stringify(message))
  return { state, send, close: () => webSocket.terminate() }
}

describe('terminals and jobs for KubeSphere 3.4 consoles', function () {
  this.timeout(60_000)
  let accounts: Accounts
  let admin = ''
  let pod = ''
  let exec = ''
  const job = uniqueName('import')

  before(async () => {
    admin = await accessToken()
    accounts = await createAccounts('terminal')
    const names = await kubectlOutput('get', 'pods', '-l', 'app', '-o=jsonpath={.items[*].metadata.name}')
    pod = names.split(' ')[0] ?? ''
    exec = `/namespaces/default/pods/${pod}/exec`
  })
  after(async () => {
    await accounts.remove()
    await kubectlOutput('delete', 'job', job, '--ignore-not-found')
  })

  it('pass input to a shell, and return its output', async () => {
    const { state, send } = openTerminal(admin, `${exec}?shell=sh`)
    await eventually(async () => {
      send({ Op: 'stdin', Data: '' })
    }, 10_000)
    send({ Op: 'resize', Cols: 132, Rows: 43 })
    send({ Op: 'stdin', Data: 'echo "é $((6 * 7))"\n' })
    await eventually(async () => expect(state.output).to.contain('é 42'), 10_000)
    send({ Op: 'stdin', Data: 'exit\n' })
    await eventually(async () => expect(state.isEnded).to.equal(true), 10_000)
    expect(state.toast).to.equal('')
  })

  it('take a large paste in one message, and characters of several bytes', async () => {
    const { state, send } = openTerminal(admin, `${exec}?shell=sh`)
    const line = `${'日本🐳é'.repeat(40)}\n`
    const count = 1_000
    const file = `/tmp/${uniqueName('paste')}`
    await eventually(async () => {
      send({ Op: 'stdin', Data: 'stty -echo; echo rea""dy\n' })
      expect(state.output).to.contain('ready')
    }, 10_000)
    send({ Op: 'stdin', Data: `cat >${file} <<'END'\n${line.repeat(count)}END\n` })
    send({ Op: 'stdin', Data: `wc -c <${file}; tail -n 1 ${file}; rm ${file}; echo do""ne\n` })
    await eventually(async () => expect(state.output).to.contain('done'), 20_000)
    expect(state.output).to.contain(String(Buffer.byteLength(line) * count))
    expect(state.output.replaceAll('\r', '')).to.contain(line)
    expect(state.toast).to.equal('')
    send({ Op: 'stdin', Data: 'exit\n' })
    await eventually(async () => expect(state.isEnded).to.equal(true), 10_000)
  })

  it('end when the client disconnects', async () => {
    const { state, send, close } = openTerminal(admin, exec)
    await eventually(async () => {
      send({ Op: 'stdin', Data: 'echo up\n' })
      expect(state.output).to.contain('up')
    }, 10_000)
    close()
    await eventually(async () => expect(state.isEnded).to.equal(true), 10_000)
  })

  const refused: readonly (readonly [what: string, target: () => string, message: RegExp])[] = [
    ['a missing pod', () => '/namespaces/default/pods/none/exec?shell=sh', /^404 pods "none" not found$/],
    ['a missing container', () => `${exec}?shell=sh&container=x`, /^400 container x is not valid for pod/],
    ['an unknown shell', () => `${exec}?shell=zsh`, /^400 invalid shell "zsh": expected bash or sh$/],
    ['a node', () => '/nodes/node-1/exec', /^404 terminals of nodes are not part of Kapis/],
  ]
  for (const [what, target, message] of refused)
    it(`reject ${what} before they open`, async () => {
      const { state } = openTerminal(admin, target())
      await eventually(async () => expect(state.refused).to.match(message), 10_000)
    })

  it('require the permission to exec in kube-apiserver itself', async () => {
    const token = await accounts.make('reader', [
      { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] },
    ])
    const { state } = openTerminal(token, `${exec}?shell=sh`)
    await eventually(async () => {
      expect(state.refused).to.match(/^403 .*cannot create resource "pods\/exec"/)
    }, 10_000)
  })

  it('are not available to plain HTTP requests', async () => {
    const { code, body } = await sendAs(admin, `/kapis/terminal.${groupDomain}/v1alpha2${exec}`)
    expect([code, JSON.parse(body).message]).to.deep.equal([400, 'a terminal requires a WebSocket'])
  })

  it('name the replacement for kubectl in a user’s pod', async () => {
    const path = `/kapis/resources.${groupDomain}/v1alpha2/users/admin/kubectl`
    const { code, body } = await sendAs(admin, path)
    expect(code).to.equal(404)
    expect(JSON.parse(body).message).to.contain('kubectl')
  })

  it('run a job again', async () => {
    const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'busybox' }] } }
    await apply({
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: job, namespace: 'default' },
      spec: { template },
    })
    const read = async () =>
      (await kubectlJson('-n', 'default', 'get', 'job', job)) as {
        metadata: { uid: string; resourceVersion: string }
      }
    const before = (await read()).metadata.uid
    const path = `/kapis/operations.${groupDomain}/v1alpha2/namespaces/default/jobs/${job}?action=rerun&resourceVersion=`
    expect((await sendAs(admin, `${path}1`, { method: 'POST' })).code).to.equal(409)
    await eventually(async () => {
      const { resourceVersion } = (await read()).metadata
      const { code, body } = await sendAs(admin, path + resourceVersion, { method: 'POST' })
      expect([code, body]).to.deep.equal([200, '{"message":"success"}\n'])
    }, 10_000)
    expect((await read()).metadata.uid).not.to.equal(before)
    const plain = await accounts.make('plain', [])
    expect((await sendAs(plain, `${path}1`, { method: 'POST' })).code).to.equal(403)
  })
})
