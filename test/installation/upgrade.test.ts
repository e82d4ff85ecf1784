import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { parseAllDocuments } from 'yaml'
import { repository } from '../../hack/controlplane/settings.ts'
import { createPasswordHasher } from '../../pkg/iam/passwords/password.ts'
import { eventually } from '../e2e/http.ts'
import { bareCluster, type Cluster } from './control-plane.ts'
import { get } from './get.ts'
import { startLoad, watchAvailability } from './load.ts'
import { type Login, logIn, readAdministrator, refresh, type Tokens } from './log-in.ts'
import { olderVersion, type Version } from './older-version.ts'
import { type Pod, startPod } from './pod.ts'
import { uninstall } from './uninstall.ts'
import { untilServed } from './until-served.ts'

const namespace = 'kapis-system'
const apiService = 'v1alpha3.resources.kapis.io'
const today: Version = { folder: repository, programs: '' }
const overlay = ({ folder }: Version, name: string) => join(folder, 'manifests/overlays', name)
const user = (username: string): Login => ({ username, password: `the password of ${username}` })

describe('an installation of an older version', function () {
  this.timeout(400_000)
  let cluster: Cluster
  let older: Version
  let admin: Login
  const pods = new Map<string, Pod>()
  /** Tokens that the older version has issued. */
  let held: Tokens

  before(async () => {
    ;[cluster, older] = await Promise.all([bareCluster(), olderVersion()])
    await cluster.output(['apply', '-k', overlay(older, 'ha')])
    await Promise.all([start('old-a', older), start('old-b', older)])
    await untilServed(cluster)
    admin = await readAdministrator(cluster, namespace)
    held = await logIn(front(), admin)
    await makeUser(user('earlier'))
    await logIn(front(), user('earlier'))
  })

  after(async () => {
    await Promise.all([...pods.keys()].map(stop))
    // Uses only the current manifests: an upgrade must not leave objects that they do not contain.
    await uninstall(cluster, ['-k', overlay(today, 'default')])
  })

  async function start(name: string, { programs }: Version): Promise<Pod> {
    const env = { KAPIS_SHUTDOWN_DELAY_SECONDS: '3' }
    const pod = await startPod(cluster, { name, namespace, env, ...(programs === '' ? {} : { programs }) })
    pods.set(name, pod)
    return pod
  }
  async function stop(name: string): Promise<void> {
    expect(await pods.get(name)?.stop(), name).to.deep.equal([0, 0])
    pods.delete(name)
  }
  function front(): Pod {
    const [pod] = pods.values()
    if (pod === undefined) throw new Error('there is no Pod')
    return pod
  }

  async function makeUser({ username, password }: Login): Promise<void> {
    const hash = await (await createPasswordHasher()).hash(password)
    const spec = { email: `${username}@upgrade.test`, password: hash }
    const object = { apiVersion: 'iam.kapis.io/v1alpha2', kind: 'User', metadata: { name: username }, spec }
    await cluster.output(['apply', '-f', '-'], JSON.stringify(object))
  }

  /**
   * Replaces each replica after the next one is ready, while reads, watches and kubectl continue.
   */
  async function roll(version: Version, pairs: readonly (readonly [old: string, next: string])[]) {
    const load = startLoad(cluster)
    const availability = watchAvailability(cluster, apiService)
    await sleep(1_000)
    for (const [old, next] of pairs) {
      await start(next, version)
      await stop(old)
    }
    await sleep(1_000)
    const { failures, ...figures } = await load.stop()
    console.log(`      ${JSON.stringify(figures)}`)
    expect(failures).to.deep.equal([])
    expect(await availability.stop()).to.deep.equal(['True'])
    expect(figures.requests).to.be.above(10)
  }

  /**
   * Expects that an existing token is valid at every replica, that its login can be refreshed, and
   * that users can log in.
   */
  async function expectNothingLost(users: readonly Login[]): Promise<void> {
    for (const { url } of pods.values()) {
      await eventually(async () => {
        const { token } = held
        const page = await get(`${url}/kapis/resources.kapis.io/v1alpha3/nodes`, { token })
        expect([page.code, JSON.parse(page.body).totalItems]).to.deep.equal([200, 2])
      }, 60_000)
    }
    held = await refresh(front(), held)
    for (const login of [admin, ...users]) await logIn(front(), login)
  }

  it('can be upgraded under load, without an error', async () => {
    await cluster.output(['apply', '-k', overlay(today, 'ha')])
    await roll(today, [
      ['old-a', 'new-a'],
      ['old-b', 'new-b'],
    ])
    await expectNothingLost([user('earlier')])
    await makeUser(user('later'))
    await logIn(front(), user('later'))
  })

  it('can be rolled back by its Pod template only, without an error', async () => {
    await applyDeployment()
    await roll(older, [
      ['new-a', 'old-c'],
      ['new-b', 'old-d'],
    ])
    await expectNothingLost([user('earlier'), user('later')])
  })

  /**
   * Applies the older Deployment only, like `kubectl rollout undo`: CRDs and RBAC are not reverted.
   */
  async function applyDeployment(): Promise<void> {
    const objects = parseAllDocuments(await cluster.output(['kustomize', overlay(older, 'ha')]))
      .map(document => document.toJSON())
      .filter(({ kind }) => kind === 'Deployment')
    expect(objects).to.have.length(1)
    await cluster.output(['apply', '-f', '-'], JSON.stringify(objects[0]))
  }
})
