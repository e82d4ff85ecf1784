import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { accessToken, kubectl, uniqueName } from '../e2e/cluster.ts'
import { eventually, groupDomain, sendAs } from '../e2e/http.ts'
import { createUser, loginAs, parseResponse, removeUser, token } from '../e2e/oauth.ts'
import { type Replica, startReplica } from './replica.ts'

/**
 * Login records are deleted when they are too old, or when a user has too many. kapis-oauth checks
 * at startup and every few minutes.
 */
describe('the login records', function () {
  this.timeout(120_000)
  const busy = { username: uniqueName('busy'), password: 'Correct horse 1' }
  const calm = { username: uniqueName('calm'), password: 'Correct horse 1' }
  const failures = 4
  const maxEntries = 3
  let admin: string
  let replica: Replica | undefined

  before(async () => {
    admin = await accessToken()
    for (const user of [busy, calm]) {
      await createUser(user)
      await loginAs(user)
    }
    // The times of records are whole seconds: this login must be older than the following ones.
    await sleep(1_100)
    const wrong = { grant_type: 'password', username: busy.username, password: 'Wrong horse 1' }
    for (let i = 0; i < failures; i++)
      expect(parseResponse(await token(wrong))).to.deep.equal([
        400,
        { error: 'invalid_grant', error_description: 'incorrect password' },
      ])
    await eventually(async () => {
      expect(await recordsOf(busy)).to.have.length(failures + 1)
      expect(await recordsOf(calm)).to.have.length(1)
    }, 20_000)
  })
  afterEach(() => replica?.stop())
  after(async () => {
    for (const { username } of [busy, calm]) {
      await removeUser(username)
      await kubectl('delete', 'loginrecords', '-l', `iam.${groupDomain}/user-ref=${username}`)
    }
  })

  type LoginRecord = {
    readonly metadata: { readonly name: string }
    readonly spec: { readonly success: boolean }
  }
  async function recordsOf({ username }: { readonly username: string }): Promise<readonly LoginRecord[]> {
    const path = `/kapis/iam.${groupDomain}/v1alpha2/users/${username}/loginrecords?limit=100`
    const { items } = JSON.parse((await sendAs(admin, path)).body)
    return items
  }
  const names = (records: readonly LoginRecord[]) => records.map(({ metadata }) => metadata.name)
  const retention = 3_600
  const start = async (secondsLater: number, authentication: object) => {
    const config = {
      authentication: { loginHistoryRetentionPeriodSeconds: retention, ...authentication },
    }
    const wrong = { clockMs: secondsLater * 1_000 }
    replica = await startReplica({ hasOwnListener: true, config, wrong })
  }

  it('have the configured maximum per user, without the oldest', async () => {
    const before = { busy: await recordsOf(busy), calm: await recordsOf(calm) }
    const entries = { authenticateRateLimiterMaxTries: maxEntries, loginHistoryMaximumEntries: maxEntries }
    await start(retention - 1_200, entries)
    await eventually(async () => expect(await recordsOf(busy)).to.have.length(maxEntries), 30_000)
    const kept = await recordsOf(busy)
    expect(names(before.busy)).to.include.members(names(kept))
    expect(kept.map(({ spec }) => spec.success)).to.deep.equal([false, false, false])
    expect(names(await recordsOf(calm))).to.deep.equal(names(before.calm))
  })

  it('have the configured maximum age', async () => {
    await start(retention + 60, {})
    await eventually(async () => {
      expect(await recordsOf(busy)).to.deep.equal([])
      expect(await recordsOf(calm)).to.deep.equal([])
    }, 30_000)
    // Users remain logged in and can log in again.
    await loginAs(busy)
  })
})
