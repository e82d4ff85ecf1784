import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { expect } from 'chai'
import { parse } from 'yaml'
import { kubectl, makeNamespace, uniqueName } from './cluster.ts'
import { apply, eventually, groupDomain, logIn, makeUser, sendAs } from './http.ts'
import { createPerson, type KapisUser } from './kapis.ts'
import { output, run, scratch, setting } from './run.ts'

const namespace = uniqueName('access')
const [asker, approver, both] = ['asker', 'approver', 'both'].map(name => uniqueName(name))
const group = uniqueName('on-call')
const rbac = 'rbac.authorization.k8s.io'
const kind = `accessrequests.iam.${groupDomain}`
const podsPath = `/api/v1/namespaces/${namespace}/pods`
const withinMs = 2_000

/** Starts a second kapis-apiserver with the configuration of the running one. */
function startReplica() {
  const given = parse(readFileSync(join(dirname(setting('KUBECONFIG')), 'kapis.yaml'), 'utf8'))
  const file = join(scratch, 'access-replica.json')
  const own = { listen: { ...given.listen, port: 0 }, logs: { store: 'none' }, logLevel: 'info' }
  writeFileSync(file, JSON.stringify({ ...given, ...own }))
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('KAPIS_')))
  const program = resolve(import.meta.dirname, '../../cmd/apiserver/main.ts')
  const child = spawn(process.execPath, [program, '--config', file], {
    env: { ...env, NODE_NO_WARNINGS: '1' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let port = 0
  if (child.stderr)
    createInterface(child.stderr).on('line', line => {
      const { msg, port: listening } = JSON.parse(line)
      if (msg === 'listening') port = listening
    })
  return { child, url: () => `https://127.0.0.1:${port}` }
}

function bind(name: string, role: string, user: string) {
  return apply({
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: `${name}-${user}` },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: rbac, kind: 'User', name: user }],
  })
}

describe('time-bound access requests', function () {
  this.timeout(90_000)
  let people: Readonly<Record<string, KapisUser>> = {}
  let replica: { readonly child: ChildProcess; readonly url: () => string } | undefined
  let token = ''

  const as = (name = ''): KapisUser => {
    const person = people[name]
    if (person === undefined) throw new Error(`login of ${name} failed`)
    return person
  }
  async function say(name: string | undefined, ...args: readonly string[]): Promise<string> {
    const ran = await as(name).kapis(['access', ...args])
    expect(ran.code, ran.stderr).to.equal(0)
    return ran.stdout + ran.stderr
  }
  async function request(name: string | undefined, time: string): Promise<string> {
    const said = await say(name, 'request', group, '--duration', time, '--reason', 'INC-42: disk is full')
    expect(said).to.contain(`Requested the group ${group} until `)
    return said.split('\n')[0] ?? ''
  }
  async function rejection(name: string | undefined, ...args: readonly string[]): Promise<string> {
    const { code, stderr } = await as(name).kapis(['access', ...args])
    expect(code, stderr).to.equal(1)
    return stderr
  }
  /** Expects this status code from both replicas. */
  async function expectCode(code: number): Promise<void> {
    for (const server of [setting('KAPIS_URL'), replica?.url() ?? ''])
      expect((await sendAs(token, `${server}${podsPath}`)).code, server).to.equal(code)
  }

  before(async () => {
    await makeNamespace(namespace, [])
    for (const name of [asker, approver, both]) await makeUser(name ?? '')
    await apply({
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata: { name: 'on-call', namespace },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'view' },
      subjects: [{ apiGroup: rbac, kind: 'Group', name: group }],
    })
    await apply({
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRole',
      metadata: { name: group },
      rules: [{ apiGroups: [''], resources: ['groups'], resourceNames: [group], verbs: ['impersonate'] }],
    })
    for (const user of [approver, both]) {
      await bind('decides', group, user ?? '')
      await bind('approver', 'kapis:access-approver', user ?? '')
    }
    for (const user of [asker, both]) await bind('requester', 'kapis:access-requester', user ?? '')
    people = Object.fromEntries([asker, approver, both].map(name => [name, createPerson(name ?? '')]))
    for (const [name, person] of Object.entries(people)) {
      const ran = await person.kapis(['login', '-u', name], { stdin: `${setting('KAPIS_PASSWORD')}\n` })
      expect(ran.code, ran.stderr).to.equal(0)
    }
    token = JSON.parse((await logIn(asker ?? '', setting('KAPIS_PASSWORD'))).body).access_token
    replica = startReplica()
    await eventually(async () => {
      expect((await sendAs(token, `${replica?.url()}/readyz`)).code).to.equal(200)
    }, 60_000)
  })
  after(async () => {
    if (replica !== undefined && replica.child.exitCode === null) {
      const exited = once(replica.child, 'exit')
      replica.child.kill('SIGKILL')
      await exited
    }
    await kubectl('delete', 'namespace', namespace, '--wait=false')
    await kubectl('delete', 'clusterrole', group)
    const bindings = [approver, both].flatMap(user => [`decides-${user}`, `approver-${user}`])
    const requesters = [asker, both].map(user => `requester-${user}`)
    await kubectl('delete', 'clusterrolebinding', ...bindings, ...requesters)
    await kubectl('delete', `users.iam.${groupDomain}`, ...[asker, approver, both].map(String))
    await kubectl('delete', kind, '--all')
  })

  it('grant access from approval to revocation on every replica, and not again afterwards', async () => {
    const refused = await as(asker).kubectl('get', 'pods', '-n', namespace)
    expect(refused.stderr).to.contain(`User "${asker}" cannot list resource "pods"`)
    const name = await request(asker, '10m')
    await expectCode(403)
    expect(await rejection(asker, 'approve', name)).to.contain(
      `User "${asker}" cannot impersonate resource "groups" in API group "" at the cluster scope: deciding about the group "${group}" requires it`,
    )
    expect(await say(approver, 'list')).to.match(
      new RegExp(`${name} +${asker} +${group} +Pending +\\S+Z +INC-42: disk is full`),
    )
    expect(await say(approver, 'approve', name)).to.match(
      new RegExp(`^Approved the request of ${asker} for the group ${group} until .*Z \\(reason: INC-42`),
    )
    await eventually(() => expectCode(200), withinMs)
    const listed = await as(asker).kubectl('get', 'pods', '-n', namespace)
    expect(listed.code, listed.stderr).to.equal(0)
    const known = JSON.parse((await as(asker).kubectl('auth', 'whoami', '-o', 'json')).stdout).status.userInfo
    expect(known.groups).to.include(group)
    expect(known.extra[`iam.${groupDomain}/access-request`]).to.deep.equal([name])

    expect(await say(approver, 'revoke', name)).to.contain(`Revoked the request of ${asker}`)
    await eventually(() => expectCode(403), withinMs)
    expect(await rejection(approver, 'approve', name)).to.contain('any other decision is final')
    const cleared = await kubectl(
      ...['patch', kind, name, '--subresource=status', '--type=json'],
      ...['-p', '[{"op":"remove","path":"/status"}]'],
    )
    expect(cleared.stderr).to.contain('the status cannot be removed')
    await expectCode(403)
  })

  it('end access at their expiry, including watches that were opened with it', async () => {
    const name = await request(asker, '12s')
    const { metadata } = JSON.parse(await output('kubectl', ['get', kind, name, '-o', 'json']))
    const endMs = Date.parse(metadata.creationTimestamp) + 12_000
    await say(approver, 'approve', name)
    await eventually(() => expectCode(200), withinMs)
    const watch = sendAs(token, `${replica?.url()}${podsPath}?watch=true`).then(
      () => Date.now(),
      () => Date.now(),
    )
    await new Promise(done => setTimeout(done, endMs - Date.now()))
    await expectCode(403)
    expect((await watch) - endMs).to.be.below(withinMs)
    expect(await rejection(approver, 'approve', await request(asker, '1s').then(slow))).to.contain(
      'expired at',
    )
    await expectCode(403)
  })
  async function slow(name: string): Promise<string> {
    await new Promise(done => setTimeout(done, 2_000))
    return name
  }

  it('cannot be approved by the requester unless RBAC allows it', async () => {
    const name = await request(both, '10m')
    expect(await rejection(both, 'approve', name)).to.contain(
      `User "${both}" cannot approve-own resource "accessrequests" in API group "iam.${groupDomain}"`,
    )
    const role = `${group}-own`
    const rules = [
      { apiGroups: [`iam.${groupDomain}`], resources: ['accessrequests'], verbs: ['approve-own'] },
    ]
    await apply({ apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata: { name: role }, rules })
    try {
      await bind('own', role, both ?? '')
      await eventually(async () => {
        expect(await say(both, 'approve', name)).to.match(/^Approved your own request for the group /)
      }, 10_000)
      expect(await say(both, 'list')).to.match(
        new RegExp(`${name} +${both} +${group} +Approved +\\S+Z +${both} `),
      )
      // Users may revoke permissions that they have been granted.
      expect(await say(both, 'revoke', name)).to.contain('Revoked your own request')
    } finally {
      await kubectl('delete', 'clusterrole', role)
      await kubectl('delete', 'clusterrolebinding', `own-${both}`)
    }
  })

  const long = 'x'.repeat(513)
  const refused: readonly [what: string, args: readonly string[], message: string][] = [
    [
      'system:masters',
      ['system:masters', '--reason', 'x'],
      'groups of Kubernetes itself cannot be requested',
    ],
    ['a day', [group, '--duration', '1d', '--reason', 'x'], 'invalid --duration "1d": expected 1s to 12h'],
    ['a reason that is too long', [group, '--reason', long], 'Too long: may not be more than 512 bytes'],
    ['a reason of two lines', [group, '--reason', 'a\nb'], 'spec.reason in body should match'],
  ]
  for (const [what, args, message] of refused)
    it(`are rejected with ${what}`, async () => {
      const { code, stderr } = await as(asker).kapis(['access', 'request', ...args])
      expect(code, stderr).to.not.equal(0)
      expect(stderr).to.contain(message)
    })

  it('are created by users for themselves, and are immutable', async () => {
    const spec = { user: approver, userUid: 'x', group, seconds: 60, reason: 'x' }
    const forged = { apiVersion: `iam.${groupDomain}/v1alpha2`, kind: 'AccessRequest', spec }
    const { env } = as(asker)
    const stdin = JSON.stringify({ ...forged, metadata: { name: uniqueName('forged') } })
    const ran = await run('kubectl', ['create', '--validate=false', '-f', '-'], { env, stdin })
    expect(ran.stderr).to.contain(`User "${asker}" cannot request access for user "${approver}"`)
    const name = await request(asker, '10m')
    const changed = await kubectl('patch', kind, name, '--type=merge', '-p', '{"spec":{"seconds":7200}}')
    expect(changed.stderr).to.contain('a request cannot be changed; create another one')
    const status = JSON.stringify({ status: { state: 'Approved', by: 'someone-else' } })
    const lied = await kubectl('patch', kind, name, '--subresource=status', '--type=merge', '-p', status)
    expect(lied.stderr).to.contain('cannot decide as another user')
  })
})
