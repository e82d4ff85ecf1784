import { randomBytes } from 'node:crypto'
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { dirname, join } from 'node:path'
import { expect } from 'chai'
import { accessToken, kubectl, kubectlOutput, makeNamespace, uniqueName, withToken } from './cluster.ts'
import { eventually } from './http.ts'
import { type CommandResult, follow, type RunningCommand, run, scratch, setting } from './run.ts'

type Step = {
  readonly args: readonly string[]
  readonly stdin?: string
  readonly env?: Readonly<Record<string, string>>
}

type Route = 'front' | 'direct'

const spdy = { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'false', KUBECTL_PORT_FORWARD_WEBSOCKETS: 'false' }

/**
 * Runs kubectl commands through kapis-apiserver and directly at kube-apiserver, with the same
 * token. Expected differences (namespace, uids, times, versions, generated names) are normalized on
 * both sides; all other output must be equal.
 */
describe('kubectl through kapis-apiserver compared to kube-apiserver', function () {
  this.timeout(180_000)
  const namespaces = { front: uniqueName('front'), direct: uniqueName('direct') }
  let token: string
  let pod: string
  let ways: readonly (readonly [way: Route, args: readonly string[]])[] = []

  before(async () => {
    token = await accessToken()
    const front = [
      '--server',
      setting('KAPIS_URL'),
      '--certificate-authority',
      setting('KAPIS_CA'),
      '--token',
      token,
    ]
    ways = [
      ['front', ['--kubeconfig', '/dev/null', ...front]],
      ['direct', await withToken(token)],
    ]
    for (const name of Object.values(namespaces)) await makeNamespace(name, ['worker'])
    pod = (await kubectlOutput('get', 'pods', '-o', 'jsonpath={.items[0].metadata.name}')).trim()
  })
  after(async () => {
    await kubectl('delete', 'namespace', ...Object.values(namespaces), '--wait=false')
  })

  /**
   * Runs a step through both servers concurrently, each in its own namespace, and compares the
   * results.
   */
  async function same(step: Step): Promise<CommandResult> {
    const [front, direct] = await Promise.all([ranOneWay('front', step), ranOneWay('direct', step)])
    expect(front, step.args.join(' ')).to.deep.equal(direct)
    return front
  }

  /**
   * Like `same`, but repeats the direct command if it printed nothing: over SPDY, one in sixty runs
   * loses its output. Through Kapis, none does.
   */
  async function samePrinted(step: Step): Promise<void> {
    const front = await ranOneWay('front', step)
    let direct = await ranOneWay('direct', step)
    for (let more = 2; more > 0 && direct.code === 0 && direct.stdout === ''; more -= 1)
      direct = await ranOneWay('direct', step)
    expect(front, step.args.join(' ')).to.deep.equal(direct)
    expect(front.stdout + front.stderr).not.to.equal('')
  }

  async function ranOneWay(way: Route, { args, stdin, env }: Step): Promise<CommandResult> {
    const connect = new Map(ways).get(way)
    if (connect === undefined) throw new Error(`unknown server ${way}`)
    const options = {
      timeoutMs: 60_000,
      ...(stdin === undefined ? {} : { stdin }),
      ...(env ? { env } : {}),
    }
    return plain(await run('kubectl', [...connect, '-n', namespaces[way], ...args], options))
  }

  function plain({ code, stdout, stderr }: CommandResult): CommandResult {
    return { code, stdout: plainText(stdout), stderr: plainText(stderr) }
  }

  function plainText(text: string): string {
    return (
      text
        .replaceAll(namespaces.front, '<namespace>')
        .replaceAll(namespaces.direct, '<namespace>')
        .replaceAll(setting('KAPIS_URL'), '<server>')
        .replaceAll(setting('KUBE_URL'), '<server>')
        .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uid>')
        .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, '<time>')
        .replace(/\/(LIVE|MERGED)-\d+\//g, '/$1/')
        .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ \+0000/g, '<time>')
        // Times are normalized: the lease of a node is renewed every ten seconds, also between the
        // two commands.
        .replace(/[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d \+0000/g, '<time>')
        .replace(/(resourceVersion"?: ?)"\d+"/g, '$1<version>')
        .replace(/("continue":")[^"]+/g, '$1<token>')
        .replace(/\b\d+(m|s|m\d+s)\b/g, '<age>')
        // Column widths are normalized: the names of the two namespaces differ in length.
        .replace(/ {2,}/g, '  ')
        .replace(/\b(web|made)-[a-z0-9]{8,10}-[a-z0-9]{5}\b/g, '$1-<hash>')
        .replace(/\b(web|made)-[a-z0-9]{8,10}\b/g, '$1-<hash>')
    )
  }

  const configMap = (name: string, data: object) =>
    JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data })
  const deployment = JSON.stringify({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', labels: { app: 'web' } },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        // The pod names its node, since the control plane has no scheduler.
        spec: { nodeName: 'worker-1', containers: [{ name: 'web', image: 'web:1' }] },
      },
    },
  })

  it('reads: get, describe, explain, discovery, in every output format', async () => {
    const commands = [
      'get nodes -o wide',
      'get nodes -o json',
      'get nodes -o yaml --show-managed-fields',
      'get nodes --show-labels',
      'get nodes --sort-by=.metadata.name -o custom-columns=N:.metadata.name',
      'get nodes -l kubernetes.io/os=linux --no-headers',
      'get nodes -l a==',
      'get pods -A --field-selector=status.phase=Running -o name',
      'get pods -A --field-selector=no.such=field',
      'get all -A -o name',
      'get configmaps,serviceaccounts -o name',
      'get no-such-kind',
      'get --raw /apis/apps/v1',
      'get --raw /api/v1/nodes?limit=1',
      'get --raw /openapi/v3/version',
      'get --raw /no/such/path',
      'describe node worker-1',
      'explain deployments.spec.strategy',
      'explain pods --recursive',
      'api-resources -o wide',
      'api-resources --verbs=list --namespaced -o name',
      'api-versions',
      'cluster-info',
      'version',
      'version -o json',
      'auth whoami',
      'auth whoami -o yaml',
      'auth can-i --list',
      'auth can-i create deployments.apps',
      'auth can-i get pods --subresource=log --as=system:serviceaccount:default:default',
      'auth can-i delete nodes --as=unprivileged -q',
      'get pods -A --as=unprivileged',
      'get nodes -o name --as=unprivileged --as-group=system:masters',
      'get namespaces default -o name --as=unprivileged --as-uid=u-1 --as-group=a --as-group=b',
      'events -A --types=Warning',
      'top node',
    ]
    for (const command of commands) await same({ args: command.split(' ') })
  })

  it('version prints kube-apiserver’s version, without a warning', async () => {
    const { stdout, stderr } = await same({ args: ['version', '-o', 'json'] })
    const { clientVersion, serverVersion } = JSON.parse(stdout)
    expect(serverVersion.gitVersion).to.equal(clientVersion.gitVersion)
    expect(stderr).to.equal('')
  })

  it('writes: create, apply, patch, label, replace, diff, delete, and their errors', async () => {
    const steps: readonly Step[] = [
      { args: ['apply', '-f', '-'], stdin: configMap('a', { k: 'v' }) },
      { args: ['apply', '-f', '-'], stdin: configMap('a', { k: 'v' }) },
      {
        args: ['diff', '-f', '-'],
        stdin: configMap('a', { k: 'w' }),
        env: { KUBECTL_EXTERNAL_DIFF: 'diff -U0' },
      },
      { args: ['apply', '-f', '-'], stdin: configMap('a', { k: 'w' }) },
      { args: ['apply', '--server-side', '-f', '-'], stdin: configMap('a', { k: 'x' }) },
      { args: ['apply', '--server-side', '--force-conflicts', '-f', '-'], stdin: configMap('a', { k: 'x' }) },
      {
        args: ['apply', '--server-side', '--dry-run=server', '-o', 'yaml', '-f', '-'],
        stdin: configMap('b', {}),
      },
      { args: ['create', '-f', '-'], stdin: configMap('a', {}) },
      { args: ['create', '-f', '-'], stdin: configMap('Not A Name', {}) },
      {
        args: ['create', '-f', '-'],
        stdin: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"s"},"dota":{}}',
      },
      { args: ['patch', 'configmap', 'a', '--type=merge', '-p', '{"data":{"m":"1"}}'] },
      {
        args: ['patch', 'configmap', 'a', '--type=json', '-p', '[{"op":"add","path":"/data/j","value":"1"}]'],
      },
      { args: ['patch', 'configmap', 'a', '--type=strategic', '-p', '{"data":{"s":"1"}}'] },
      {
        args: [
          'patch',
          'configmap',
          'a',
          '--type=json',
          '-p',
          '[{"op":"test","path":"/data/j","value":"2"}]',
        ],
      },
      { args: ['label', 'configmap', 'a', 'x=y'] },
      { args: ['annotate', 'configmap', 'a', 'x=y'] },
      { args: ['get', 'configmap', 'a', '-o', 'yaml'] },
      { args: ['replace', '-f', '-'], stdin: configMap('a', { r: '1' }) },
      { args: ['create', 'secret', 'generic', 's', '--from-literal=a=b'] },
      { args: ['create', 'role', 'r', '--verb=get', '--resource=pods', '-o', 'yaml'] },
      { args: ['create', 'quota', 'q', '--hard=pods=100'] },
      { args: ['describe', 'quota', 'q'] },
      { args: ['delete', 'configmap', 'a', '--dry-run=server'] },
      { args: ['delete', 'configmap', 'a'] },
      { args: ['delete', 'configmap', 'a'] },
      { args: ['delete', 'configmap', 'a', '--ignore-not-found'] },
      { args: ['delete', 'secrets,roles', '--all'] },
    ]
    for (const step of steps) await same(step)
  })

  it('workloads: rollout, scale, wait, set, expose, autoscale', async () => {
    const steps: readonly Step[] = [
      { args: ['apply', '-f', '-'], stdin: deployment },
      { args: ['rollout', 'status', 'deployment/web', '--timeout=60s', '-w=true'] },
      { args: ['wait', 'deployment/web', '--for=condition=Available', '--timeout=60s'] },
      { args: ['wait', 'pods', '-l', 'app=web', '--for=jsonpath={.status.phase}=Running', '--timeout=60s'] },
      { args: ['scale', 'deployment/web', '--replicas=3', '--current-replicas=2'] },
      { args: ['scale', 'deployment/web', '--replicas=3', '--current-replicas=7'] },
      { args: ['rollout', 'status', 'deployment/web', '--timeout=60s'] },
      { args: ['get', 'deployment', 'web', '-o', 'jsonpath={.spec.replicas} {.status.readyReplicas}'] },
      { args: ['set', 'image', 'deployment/web', 'web=web:2'] },
      { args: ['rollout', 'status', 'deployment/web', '--timeout=60s'] },
      { args: ['rollout', 'history', 'deployment/web'] },
      { args: ['rollout', 'undo', 'deployment/web'] },
      { args: ['rollout', 'restart', 'deployment/web'] },
      { args: ['rollout', 'status', 'deployment/web', '--timeout=60s'] },
      { args: ['get', 'deployment', 'web', '-o', 'jsonpath={.spec.template.spec.containers[0].image}'] },
      {
        args: ['get', 'deployment', 'web', '--subresource=scale', '-o', 'jsonpath={.kind} {.spec.replicas}'],
      },
      { args: ['expose', 'deployment', 'web', '--port=80', '-o', 'name'] },
      { args: ['autoscale', 'deployment', 'web', '--min=1', '--max=3'] },
      { args: ['create', 'token', 'no-such-account'] },
      { args: ['delete', 'deployment,service,hpa', 'web', '--wait=true'] },
      { args: ['wait', 'pods', '-l', 'app=web', '--for=delete', '--timeout=60s'] },
    ]
    for (const step of steps) {
      const { code, stderr } = await sameLoosely(step)
      const isWrong = step.args.includes('no-such-account') || step.args.includes('--current-replicas=7')
      expect(code, `${step.args.join(' ')}: ${stderr}`).to.equal(isWrong ? 1 : 0)
    }
  })

  /** Like `same`, but the number of intermediate states may differ, since it depends on timing. */
  async function sameLoosely(step: Step): Promise<CommandResult> {
    const isOnItsWay = step.args[0] === 'rollout' && step.args[1] === 'status'
    if (!isOnItsWay && step.args[0] !== 'wait') return same(step)
    const last = await Promise.all(
      ways.map(async ([way, connect]): Promise<CommandResult> => {
        const args = [...connect, '-n', namespaces[way], ...step.args]
        const ran = plain(await run('kubectl', args, { timeoutMs: 70_000 }))
        return { ...ran, stdout: isOnItsWay ? (ran.stdout.trim().split('\n').at(-1) ?? '') : '' }
      }),
    )
    expect(last[0], step.args.join(' ')).to.deep.equal(last[1])
    return last[0] ?? { code: null, stdout: '', stderr: '' }
  }

  it('create token returns a token of kube-apiserver', async () => {
    for (const [way, connect] of ways) {
      const made = await run('kubectl', [...connect, '-n', namespaces[way], 'create', 'token', 'worker'])
      const claims = JSON.parse(Buffer.from(made.stdout.split('.')[1] ?? '', 'base64url').toString('utf8'))
      expect(claims.sub).to.equal(`system:serviceaccount:${namespaces[way]}:worker`)
    }
  })

  it('get -w shows the same events in the same order', async () => {
    const observed: (readonly string[])[] = []
    for (const [way, connect] of ways) {
      const here = ['-n', namespaces[way]]
      const watch = follow('kubectl', [
        ...[
          ...connect,
          ...here,
          'get',
          'configmaps',
          '-l',
          'watched',
          '-w',
          '--output-watch-events',
          '-L',
          'v',
        ],
      ])
      const go = (...args: string[]) => kubectlOutput(...here, ...args)
      try {
        // Waits until the watch has started, since it only shows later changes.
        await new Promise(resolve => setTimeout(resolve, 1_500))
        await go('create', 'configmap', 'w', '--from-literal=k=1')
        await go('label', 'configmap', 'w', 'watched=yes', 'v=1')
        await go('label', 'configmap', 'w', 'v=2', '--overwrite')
        await go('delete', 'configmap', 'w')
        await watch.line(line => line.startsWith('DELETED'), 20_000)
        observed.push(watch.lines.map(line => plainText(line).replace(/ +/g, ' ').trim()))
      } finally {
        await watch.stop()
      }
    }
    expect(observed[0]).to.deep.equal(observed[1])
    expect(observed[0]).to.deep.equal([
      'EVENT NAME DATA AGE V',
      'ADDED w 1 <age> 1',
      'MODIFIED w 1 <age> 2',
      'DELETED w 1 <age> 2',
    ])
  })

  for (const [protocol, env] of [['WebSocket', {}] as const, ['SPDY', spdy] as const]) {
    it(`exec over ${protocol}: output, errors, exit codes, input`, async () => {
      const here = ['-n', 'default', 'exec']
      const steps: readonly Step[] = [
        { args: [...here, pod, '--', 'echo', 'a b'] },
        { args: [...here, pod, '--', 'sh', '-c', 'echo out; echo err >&2; exit 7'] },
        { args: [...here, '-i', pod, '--', 'head', '-2'], stdin: 'one\ntwo\nthree\n' },
        { args: [...here, pod, '--', 'seq', '1', '20000'] },
        { args: [...here, pod, '--', 'no-such-command'] },
        { args: [...here, 'no-such-pod', '--', 'true'] },
        { args: [...here, pod, '-c', 'no-such-container', '--', 'true'] },
      ]
      for (const step of steps) await samePrinted({ ...step, env })
    })

    it(`cp out of a pod over ${protocol}`, async () => {
      const folder = mkdtempSync(join(scratch, 'cp-'))
      const text = 'x'.repeat(300_000)
      // The simulated kubelet runs commands on this machine.
      writeFileSync(join(folder, 'there'), text)
      for (const [way, connect] of ways) {
        const back = join(folder, way)
        const source = `${pod}:${join(folder, 'there')}`
        const args = [...connect, '-n', 'default', 'cp', source, back]
        expect(await run('kubectl', args, { env, timeoutMs: 30_000 })).to.include({ code: 0 })
        expect(readFileSync(back, 'utf8') === text).to.equal(true)
      }
    })

    // kwok, which simulates the kubelet, does not forward the end of input, so the command never
    // ends either way.
    it(`cp into a pod over ${protocol} copies the same bytes`, async () => {
      const folder = mkdtempSync(join(scratch, 'cp-'))
      const bytes = randomBytes(300_000)
      writeFileSync(join(folder, 'here'), bytes)
      const arrived = (way: string) => {
        const file = join(folder, `to-${way}`, 'there')
        return existsSync(file) ? readFileSync(file) : Buffer.alloc(0)
      }
      const copying = ways.map(([way, connect]) => {
        mkdirSync(join(folder, `to-${way}`))
        const target = `${pod}:${join(folder, `to-${way}`, 'there')}`
        const args = [...connect, '-n', 'default', 'cp', join(folder, 'here'), target]
        return follow('kubectl', args, { env })
      })
      try {
        await eventually(async () => {
          const { front, direct } = { front: arrived('front'), direct: arrived('direct') }
          expect([front.length, front.equals(direct)]).to.deep.equal([direct.length, true])
          // tar writes blocks of 10,240 bytes, and keeps an incomplete block until the end of
          // input.
          expect(front.length).to.be.within(bytes.length - 2 * 10_240, bytes.length)
          expect(bytes.subarray(0, front.length).equals(front)).to.equal(true)
        }, 30_000)
      } finally {
        for (const each of copying) await each.stop()
        // Without the end of input, the program would outlive the test.
        await run('pkill', ['-f', `tar -xmf - -C ${folder}`])
      }
    })

    it(`attach over ${protocol}`, async () => {
      for (const [way, connect] of ways) {
        const attached = follow('kubectl', [...connect, '-n', 'default', 'attach', pod], { env })
        try {
          await seesNewLine(attached, `attached ${protocol} ${way}`)
        } finally {
          await attached.stop()
        }
      }
    })

    it(`port-forward over ${protocol}`, async () => {
      const observed: string[] = []
      for (const [, connect] of ways) {
        const forward = follow('kubectl', [...connect, '-n', 'default', 'port-forward', pod, ':80'], { env })
        try {
          const line = await forward.line(text => text.startsWith('Forwarding from 127.0.0.1:'), 20_000)
          const port = /127\.0\.0\.1:(\d+)/.exec(line)?.[1] ?? ''
          // Several concurrent requests on one connection.
          const responses = await Promise.all(
            [1, 2, 3].map(() => readLocal(`http://127.0.0.1:${port}/healthz`)),
          )
          observed.push(responses.join())
        } finally {
          await forward.stop()
        }
      }
      expect(observed[0]).to.equal(observed[1])
    })
  }

  it('logs: all lines, the last ones, and new ones', async () => {
    for (const args of [['--tail=3'], ['--timestamps', '--tail=2'], ['--limit-bytes=100'], ['-c', 'no-such']])
      await same({ args: ['-n', 'default', 'logs', pod, ...args] })
    for (const [way, connect] of ways) {
      const logs = follow('kubectl', [...connect, '-n', 'default', 'logs', '-f', pod, '--tail=5'])
      try {
        await seesNewLine(logs, `followed ${way}`)
      } finally {
        await logs.stop()
      }
    }
  })

  /**
   * Appends a line to the log that all sample pods share, until the line arrives in the stream.
   * Lines before the start of the stream do not.
   */
  async function seesNewLine(stream: RunningCommand, text: string): Promise<void> {
    const file = join(dirname(setting('KUBECONFIG')), 'sample-pod.log')
    const write = () =>
      appendFileSync(file, `${new Date().toISOString().replace('Z', '000000Z')} stdout F ${text}\n`)
    const timer = setInterval(write, 500)
    try {
      await stream.line(line => line.includes(text), 20_000)
    } finally {
      clearInterval(timer)
    }
  }

  async function readLocal(url: string): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    get(url, { agent: false }, async res => {
      try {
        const body = Buffer.concat(await res.toArray()).toString('utf8')
        resolve(`${res.statusCode} ${body}`)
      } catch (error) {
        reject(error)
      }
    }).on('error', reject)
    return promise
  }
})
