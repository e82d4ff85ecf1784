import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import fc from 'fast-check'
import { applyChanges } from '../../cmd/kapis/kubeconfig/apply.ts'
import type { Kubeconfig } from '../../cmd/kapis/kubeconfig/files.ts'
import { type ContextSettings, planContext, planRemoval } from '../../cmd/kapis/kubeconfig/plan-changes.ts'
import { run, scratch } from '../e2e/run.ts'
import { bounds, propertyTimeoutMs } from './fuzz-parameters.ts'
import { type WrittenKubeconfig, writeKubeconfig } from './kubeconfig-text.ts'
import { configs, names, usualNames } from './kubeconfigs.ts'

const platform = 'https://kapis.test'
const folder = join(scratch, 'kubeconfigs')
const io = {
  out: () => undefined,
  err: () => undefined,
  env: {},
  signal: new AbortController().signal,
  version: '',
}

type Fields = Readonly<Record<string, unknown>>
type Entry = Readonly<{ name: string; [body: string]: unknown }>
/** The output of `kubectl config view --raw -o json`. */
type View = Readonly<{
  clusters: readonly Entry[] | null
  users: readonly Entry[] | null
  contexts: readonly Entry[] | null
  'current-context': string
  [more: string]: unknown
}>

const settings: fc.Arbitrary<ContextSettings> = fc.record({
  name: fc.oneof(
    { weight: 2, arbitrary: usualNames },
    names.filter(name => name !== ''),
  ),
  cluster: fc.record({
    url: fc.constantFrom(platform, 'https://kube.test:6443'),
    ca: fc.constantFrom('', '-----BEGIN CERTIFICATE-----\n'),
  }),
  platform: fc.constant(platform),
  command: fc.constantFrom<[string, ...string[]]>(
    ['/usr/bin/kapis'],
    ['/opt/a b/node', 'C:\\x: y # z', 'no'],
  ),
  home: fc.constantFrom('', '/home/on'),
  isOverwriting: fc.boolean(),
})

/**
 * Generates entries that a login of this or an older version may have created, with typical changes
 * by users.
 */
const ours = fc
  .record({
    name: fc.oneof({ weight: 2, arbitrary: usualNames }, names),
    home: fc.boolean(),
    more: fc.boolean(),
  })
  .map(({ name, home, more }) => ({
    clusters: [
      {
        name,
        cluster: {
          server: platform,
          ...(more ? { 'tls-server-name': 'no', 'certificate-authority': '/x' } : {}),
        },
      },
    ],
    users: [
      {
        name,
        user: {
          exec: {
            apiVersion: 'client.authentication.k8s.io/v1',
            command: '/old/node',
            args: ['/old/kapis', 'get-token', '--server', platform, ...(more ? ['--context', name] : [])],
            env: home
              ? [
                  { name: 'KAPIS_HOME', value: 'y' },
                  { name: 'HTTPS_PROXY', value: '1' },
                ]
              : null,
            interactiveMode: 'Never',
            provideClusterInfo: false,
          },
        },
      },
    ],
    contexts: [{ name, context: { cluster: name, user: name, ...(more ? { namespace: 'on' } : {}) } }],
  }))

describe('kubeconfigs that kapis login writes and kubectl reads', function () {
  this.timeout(propertyTimeoutMs * 5)
  before(() => void mkdirSync(folder, { recursive: true }))

  it('contain the entries of the login, and keep everything else', async () => {
    const attempt = fc.tuple(
      writeKubeconfig(configs(ours)),
      fc.array(settings, { minLength: 1, maxLength: 3 }),
    )
    // Several attempts concurrently, since each comparison starts a kubectl process.
    const attempts = fc.array(attempt, { minLength: 4, maxLength: 4 })
    const property = fc.asyncProperty(attempts, async all => {
      await Promise.all(all.map(([kubeconfig, logins], i) => judge(join(folder, `${i}`), kubeconfig, logins)))
    })
    await fc.assert(property, bounds(5))
  })
})

async function judge(
  file: string,
  { text, encoding }: WrittenKubeconfig,
  logins: readonly ContextSettings[],
): Promise<void> {
  rmSync(file, { force: true })
  writeFileSync(file, text, encoding)
  let before = await view(file)
  for (const login of logins) {
    const old = readFileSync(file)
    const planner = (config: Kubeconfig) => planContext(config, login)
    const rejection = await applyChanges([file], planner, io).then(() => undefined, String)
    if (rejection !== undefined) {
      expect(readFileSync(file).equals(old), 'what is rejected changes nothing').to.equal(true)
      if (typeof before === 'string')
        return void expect(rejection).to.include('kubectl cannot load it either')
      expect([rejection, login.isOverwriting]).to.satisfy(isConflict)
      continue
    }
    const after = await view(file)
    if (typeof before === 'string' || typeof after === 'string')
      throw new Error(`kubectl: ${before} ${after}\n${readFileSync(file)}`)
    expectLogin(before, after, login)
    before = after
  }
  if (typeof before === 'string') return
  const last = logins.at(-1)?.name ?? ''
  await applyChanges([file], config => planRemoval(config, last, platform), io)
  const removed = await view(file)
  if (typeof removed === 'string') throw new Error(`kubectl: ${removed}\n${readFileSync(file)}`)
  const named = (list: readonly Entry[] | null) => (list ?? []).map(({ name }) => name)
  if (before['current-context'] === last) expect(named(removed.contexts)).to.not.include(last)
  for (const list of ['clusters', 'users', 'contexts'] as const)
    for (const entry of removed[list] ?? []) expect(before[list]).to.deep.include(entry)
}

function isConflict([rejection, isOverwriting]: readonly [string, boolean]): boolean {
  return !isOverwriting && rejection.endsWith('or replace it with --overwrite')
}

/** Returns the configuration as kubectl reads it, or the error if it cannot load the file. */
async function view(file: string): Promise<View | string> {
  const { code, stdout, stderr } = await run('kubectl', [
    '--kubeconfig',
    file,
    'config',
    'view',
    '--raw',
    '-o',
    'json',
  ])
  return code === 0 ? JSON.parse(stdout) : stderr
}

function expectLogin(before: View, after: View, login: ContextSettings): void {
  const { name, cluster, command, home } = login
  expect(after['current-context']).to.equal(name)
  const context = find(after, 'contexts', name)
  expect(context.user).to.equal(name)
  const clusterName = String(context.cluster)
  for (const list of ['clusters', 'users', 'contexts'] as const) {
    const own = list === 'clusters' ? clusterName : name
    expect(rest(after[list], own), list).to.deep.equal(rest(before[list], own))
  }
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)]))
    if (!['clusters', 'users', 'contexts', 'current-context'].includes(key))
      expect(after[key], key).to.deep.equal(before[key])

  const oldUser = Object(find(before, 'users', name).exec)
  const isOwn = (oldUser.args ?? []).includes(platform)
  const { exec, ...credentials } = find(after, 'users', name)
  const { command: program, args, env, ...execRest } = Object(exec)
  expect([program, ...args]).to.deep.equal([...command, 'get-token', '--server', platform, '--context', name])
  const others = (list: unknown) =>
    (Array.isArray(list) ? list : []).filter(each => each.name !== 'KAPIS_HOME')
  expect(others(env)).to.deep.equal(isOwn ? others(oldUser.env) : [])
  const homes = (Array.isArray(env) ? env : []).filter(each => each.name === 'KAPIS_HOME')
  expect(homes).to.deep.equal(home === '' ? [] : [{ name: 'KAPIS_HOME', value: home }])
  expect(execRest).to.include({ apiVersion: 'client.authentication.k8s.io/v1', interactiveMode: 'Never' })
  if (isOwn) expect({ ...credentials, exec: 0 }).to.deep.equal({ ...find(before, 'users', name), exec: 0 })

  const { server, ...clusterRest } = find(after, 'clusters', clusterName)
  expect(server).to.equal(cluster.url)
  const oldCluster = find(before, 'clusters', clusterName)
  if (oldCluster.server === cluster.url) {
    const { server: _, ...kept } = oldCluster
    const ca = { 'certificate-authority-data': Buffer.from(cluster.ca).toString('base64') }
    const { 'certificate-authority': _file, 'insecure-skip-tls-verify': _skip, ...withoutCa } = kept
    expect(clusterRest).to.deep.equal(cluster.ca === '' ? kept : { ...withoutCa, ...ca })
  }
  const { cluster: _c, user: _u, ...contextRest } = context
  const { cluster: _oc, user: _ou, ...oldRest } = find(before, 'contexts', name)
  const oldUserName = String(find(before, 'contexts', name).user ?? '')
  const oldArgs = Object(find(before, 'users', oldUserName).exec).args ?? []
  if (oldUserName !== '' && oldArgs.includes(platform)) expect(contextRest).to.deep.equal(oldRest)
}

function find(view: View, list: 'clusters' | 'users' | 'contexts', name: string): Fields {
  const entry = (view[list] ?? []).find(each => each.name === name)
  return Object(entry?.[list.slice(0, -1)])
}

function rest(list: readonly Entry[] | null, own: string): readonly Entry[] {
  return (list ?? []).filter(({ name }) => name !== own)
}
