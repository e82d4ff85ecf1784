import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { totpCode } from '../../pkg/iam/factors/fixtures.ts'
import { createBrowser, hiddenFieldsOf } from '../../pkg/oauth/browser/fixtures.ts'
import { setUpApp } from '../../pkg/oauth/browser/second-factor/fixtures.ts'
import { kubectl, kubectlOutput, uniqueName } from './cluster.ts'
import { eventually } from './http.ts'
import { createUser, removeUser } from './oauth.ts'
import { alternating, type Replica, ready, start, stop } from './replica.ts'

const namespace = uniqueName('factors')
const password = 'Correct-Horse-1'
const authentication = {
  authenticateRateLimiterMaxTries: 4,
  authenticateRateLimiterMaxTriesPerAddress: 1_000,
  authenticateRateLimiterDurationSeconds: 600,
}

describe('second factors with two replicas of kapis-oauth', function () {
  this.timeout(90_000)
  const running: Replica[] = []
  const made: string[] = []
  before(async () => {
    await kubectlOutput('create', 'namespace', namespace)
    for (const name of ['factors-a', 'factors-b']) running.push(start(name, { namespace, authentication }))
    await Promise.all(running.map(ready))
  })
  after(async () => {
    await Promise.all(running.map(replica => stop(replica, 'SIGKILL')))
    for (const username of made) await removeUser(username)
    await kubectl('delete', 'namespace', namespace, '--wait=false')
  })

  /** Creates a user with an app, and returns one page of a new login at each replica. */
  async function pending() {
    const browser = createBrowser(alternating(running))
    let username = ''
    // If a replica has not received a new user in time, the failed login counts: the next attempt
    // needs another user.
    await eventually(async () => {
      username = uniqueName(`factors-${made.length}`)
      made.push(username)
      await createUser({ username, password })
      await sleep(500)
      expect((await browser.logIn(username, password)).code).to.equal(303)
    }, 10_000)
    const app = await setUpApp(browser)
    expect(app.recoveryCodes).to.have.length(10)
    const logins = await Promise.all(
      running.map(async replica => {
        const own = createBrowser(alternating([replica]))
        const fields = hiddenFieldsOf((await own.logIn(username, password)).body)
        return (form: Readonly<Record<string, string>>) =>
          own.post('/oauth/factor', { ...fields, ...form }).then(({ code }) => code)
      }),
    )
    return { ...app, send: (i: number, form: Readonly<Record<string, string>>) => logins[i % 2]?.(form) }
  }

  it('accept a code once, and then no code of an earlier step, on both', async () => {
    const { secret, recoveryCodes, send } = await pending()
    const next = { code: totpCode(secret, 1) }
    expect((await Promise.all([send(0, next), send(1, next)])).sort()).to.deep.equal([303, 400])
    for (const steps of [-1, 0]) expect(await send(1, { code: totpCode(secret, steps) })).to.equal(400)
    expect(recoveryCodes).to.have.length(10)
  })

  it('accept a recovery code once on both', async () => {
    const { recoveryCodes, send } = await pending()
    const [recovery_code = ''] = recoveryCodes
    const both = await Promise.all([send(0, { recovery_code }), send(1, { recovery_code })])
    expect(both.sort()).to.deep.equal([303, 400])
  })

  it('count failures of each kind together, over both', async () => {
    const { secret, recoveryCodes, send } = await pending()
    const [recovery_code = ''] = recoveryCodes
    const part = { clientDataJSON: 'AQ', authenticatorData: 'AQ', signature: 'AQ' }
    const passkey = JSON.stringify({ id: 'AQ', rawId: 'AQ', type: 'public-key', response: part })
    const wrong = [{ code: '000000' }, { recovery_code: 'AAAA-AAAA-AAAA' }, { passkey }, { code: '0' }]
    for (const [i, form] of wrong.entries()) expect(await send(i, form), String(i)).to.equal(400)
    // Correct codes are rejected too.
    for (const [i, form] of [{ code: totpCode(secret, 1) }, { recovery_code }].entries())
      expect(await send(i, form)).to.equal(429)
  })
})
