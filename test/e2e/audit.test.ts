import { readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { expect } from 'chai'
import { type ApiserverReplica, startApiserver } from './apiserver-replica.ts'
import { accessToken, kubectl, kubectlOutput, makeNamespace, tokenOf, uniqueName } from './cluster.ts'
import { describeAuditEvents } from './event-cases.ts'
import { eventually } from './http.ts'
import { type CommandResult, run, scratch, setting } from './run.ts'

type Event = {
  readonly auditID: string
  readonly level: string
  readonly stage: string
  readonly verb: string
  readonly requestURI: string
  readonly user: { readonly username?: string; readonly groups?: readonly string[] }
  readonly impersonatedUser?: { readonly username: string }
  readonly objectRef?: { readonly resource?: string; readonly name?: string; readonly subresource?: string }
  readonly responseStatus?: { readonly code: number; readonly message?: string }
  readonly requestObject?: { readonly data?: object }
  readonly responseObject?: { readonly metadata?: object }
  readonly annotations?: object
}

const namespace = uniqueName('audit')
const log = join(scratch, 'audit.log')
const policy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
omitManagedFields: true
rules:
  - level: None
    users: [system:anonymous]
    nonResourceURLs: ["/version"]
  - level: RequestResponse
    namespaces: [${namespace}]
  - level: Metadata
`

describe('the audit log', function () {
  this.timeout(90_000)
  let replica: ApiserverReplica | undefined
  let server: string
  let token: string

  // A replica that shares everything but its settings with the running kapis-apiserver.
  before(async () => {
    await makeNamespace(namespace, ['unprivileged', 'deputy'])
    token = await accessToken()
    const policyFile = join(scratch, 'audit-policy.yaml')
    writeFileSync(policyFile, policy)
    const own = {
      KAPIS_AUDIT_PATH: log,
      KAPIS_AUDIT_POLICY_FILE: policyFile,
      KAPIS_LOGS_STORE: 'embedded',
      KAPIS_LOGS_EMBEDDED_FOLDER: join(scratch, 'audit-logs'),
    }
    replica = await startApiserver({ env: own })
    server = replica.server
  })
  after(async () => {
    await replica?.stop()
    await kubectl('delete', 'namespace', namespace, '--wait=false')
  })

  function through(...args: readonly string[]): Promise<CommandResult> {
    return throughAs(token, ...args)
  }

  async function throughAs(bearer: string, ...args: readonly string[]): Promise<CommandResult> {
    if (replica === undefined) throw new Error('the replica was not started')
    return replica.kubectl(bearer, ...args)
  }

  /** Returns the last matching event at the stage ResponseComplete, and waits for it. */
  async function event(matches: (event: Event) => boolean): Promise<Event> {
    let found: Event | undefined
    await eventually(async () => {
      const events: Event[] = readFileSync(log, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map(line => JSON.parse(line))
      found = events.findLast(candidate => candidate.stage === 'ResponseComplete' && matches(candidate))
      if (found === undefined) throw new Error(`no such event among ${events.length}`)
    }, 20_000)
    if (found === undefined) throw new Error('no event')
    return found
  }

  const isOf = (verb: string, resource: string, name: string) => (candidate: Event) =>
    candidate.verb === verb && candidate.objectRef?.resource === resource && candidate.objectRef.name === name

  describeAuditEvents('the embedded store', () => server)

  it('records user, request, result, and both bodies', async () => {
    const manifest = JSON.stringify({
      ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'written' }, data: { a: 'b' } },
    })
    const target = ['--server', server, '--certificate-authority', setting('KAPIS_CA'), '--token', token]
    const apply = [
      '--kubeconfig',
      '/dev/null',
      ...target,
      '-n',
      namespace,
      'apply',
      '--server-side',
      '-f',
      '-',
    ]
    expect(await run('kubectl', apply, { stdin: manifest })).to.include({ code: 0 })
    const { level, user, responseStatus, requestObject, responseObject } = await event(
      isOf('patch', 'configmaps', 'written'),
    )
    expect([level, user.username, responseStatus?.code]).to.deep.equal([
      'RequestResponse',
      setting('KAPIS_USER'),
      201,
    ])
    expect(user.groups).to.include('system:authenticated')
    expect(requestObject?.data ?? responseObject).to.not.equal(undefined)
    expect(responseObject?.metadata).to.include({ name: 'written' }).and.not.have.property('managedFields')
  })

  it('contains no secret, token or password', async () => {
    await through('-n', namespace, 'create', 'secret', 'generic', 'hidden', '--from-literal=k=hunter2hunter2')
    await through('-n', namespace, 'get', 'secret', 'hidden', '-o', 'yaml')
    const made = await through('-n', namespace, 'create', 'token', 'unprivileged')
    expect(made.code).to.equal(0)
    await through('get', '--raw', `/api/v1/namespaces/${namespace}/configmaps?access_token=hunter2hunter2`)
    const read = await event(isOf('get', 'secrets', 'hidden'))
    expect([read.level, read.requestObject, read.responseObject]).to.deep.equal([
      'Metadata',
      undefined,
      undefined,
    ])
    await event(({ requestURI }) => requestURI.endsWith('?access_token=[redacted]'))
    const text = readFileSync(log, 'utf8')
    for (const secret of [
      'hunter2hunter2',
      Buffer.from('hunter2hunter2').toString('base64'),
      made.stdout.trim(),
      token,
    ])
      expect(text.includes(secret)).to.equal(false)
  })

  it('records rejections: without permission, without credentials, with a malicious path', async () => {
    const unprivileged = await tokenOf(namespace, 'unprivileged')
    await throughAs(unprivileged, '-n', namespace, 'delete', 'configmap', 'written')
    expect((await event(isOf('delete', 'configmaps', 'written'))).responseStatus?.code).to.equal(403)
    await throughAs(unprivileged, 'get', '--raw', '/kapis/resources.kapis.io/v1alpha3/nodes')
    const { annotations } = await event(({ requestURI }) => requestURI.startsWith('/kapis/'))
    expect(annotations).to.include({ 'authorization.k8s.io/decision': 'forbid' })
    await throughAs('no.such.token', 'get', '--raw', '/api/v1/namespaces')
    const unknown = await event(({ requestURI }) => requestURI === '/api/v1/namespaces')
    expect([unknown.user, unknown.responseStatus?.code]).to.deep.equal([{}, 401])
  })

  it('has the audit IDs of kube-apiserver’s log', async () => {
    const asked = await fetchHeaders(`${server}/api/v1/namespaces/${namespace}`)
    expect((await event(isOf('get', 'namespaces', namespace))).auditID).to.equal(asked['audit-id'])
  })

  it('records each request that is part of a batch', async () => {
    const unprivileged = await tokenOf(namespace, 'unprivileged')
    const root = '/kapis/resources.kapis.io/v1alpha3'
    await throughAs(unprivileged, 'get', '--raw', `${root}/counts?kinds=configmaps&namespace=${namespace}`)
    const list = `${root}/namespaces/${namespace}/configmaps?limit=0`
    const part = await event(({ requestURI }) => requestURI === list)
    expect([part.verb, part.responseStatus?.code, part.user.username]).to.deep.equal([
      'list',
      403,
      `system:serviceaccount:${namespace}:unprivileged`,
    ])
    const whole = await event(({ requestURI }) => requestURI.startsWith(`${root}/counts`))
    expect(whole.responseStatus?.code).to.equal(200)
    expect(whole.auditID).to.not.equal(part.auditID)
  })

  it('records the end of an exec', async () => {
    const pod = (await kubectlOutput('get', 'pods', '-o', 'jsonpath={.items[0].metadata.name}')).trim()
    expect(await through('exec', pod, '--', 'true')).to.include({ code: 0 })
    // The method depends on the protocol: GET for WebSocket, POST for SPDY.
    const { responseStatus, objectRef } = await event(
      candidate => candidate.objectRef?.subresource === 'exec' && candidate.objectRef.name === pod,
    )
    expect([responseStatus?.code, objectRef]).to.deep.equal([
      101,
      { resource: 'pods', namespace: 'default', name: pod, apiVersion: 'v1', subresource: 'exec' },
    ])
  })

  it('records both the caller and the impersonated user', async () => {
    const as = ['--as', `system:serviceaccount:${namespace}:deputy`]
    const { stdout } = await through('auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}', ...as)
    expect(stdout).to.equal(`system:serviceaccount:${namespace}:deputy`)
    const { user, impersonatedUser } = await event(
      ({ objectRef, impersonatedUser: who }) =>
        objectRef?.resource === 'selfsubjectreviews' && who !== undefined,
    )
    expect([user.username, impersonatedUser?.username]).to.deep.equal([
      setting('KAPIS_USER'),
      `system:serviceaccount:${namespace}:deputy`,
    ])
  })

  async function fetchHeaders(url: string): Promise<NodeJS.Dict<string | string[]>> {
    const { promise, resolve: done, reject } = Promise.withResolvers<NodeJS.Dict<string | string[]>>()
    const headers = { authorization: `Bearer ${token}` }
    request(url, { headers, ca: readFileSync(setting('KAPIS_CA')), agent: false }, res => {
      res.resume()
      done(res.headers)
    })
      .on('error', reject)
      .end()
    return promise
  }
})
