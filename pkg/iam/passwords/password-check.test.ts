import { expect } from 'chai'
import { createLockout } from '../lockout/lockout.ts'
import { createLoginKeys } from '../lockout/login-keys.ts'
import { memoryUser } from '../users/fixtures.ts'
import type { User } from '../users/user.ts'
import { createPasswordChecker, type FailedLogin } from './password-check.ts'

describe('createPasswordChecker', () => {
  const rule = { maxTries: 3, durationSeconds: 600 }

  function make(alice: Partial<User> = {}) {
    const users = new Map<string, User>([['alice', memoryUser('alice', alice)]])
    const compared: (string | undefined)[] = []
    const failed: FailedLogin[] = []
    const locked: string[] = []
    /** The failures on all replicas, and how often they were queried. */
    const common = { failures: 0, fromAddress: 0, questions: 0 }
    const checker = createPasswordChecker({
      users: { find: login => users.get(login.replace('@kapis.io', '')) },
      hasher: {
        hash: async password => password,
        async verify(password, stored) {
          compared.push(stored)
          return password === stored
        },
        pending: () => 0,
      },
      hashOf: async ({ inlineHash }) => inlineHash,
      lockout: createLockout({ rules: { user: rule, address: { ...rule, maxTries: 5 } } }),
      durationSeconds: rule.durationSeconds,
      toKeys: createLoginKeys(() => Buffer.from('secret')),
      maxTries: rule.maxTries,
      maxTriesPerAddress: 5,
      async failed(event) {
        failed.push(event)
        return { ofName: common.failures, ofAddress: common.fromAddress }
      },
      counts: {
        async countOf() {
          common.questions++
          return common.failures
        },
        async countFrom() {
          common.questions++
          return common.fromAddress
        },
      },
      locked: keys => void locked.push(...keys.map(key => key.split(':')[0] ?? '')),
    })
    let addresses = 0
    async function check(login: string, password: string, address = `192.0.2.${++addresses}`) {
      const verdict = await checker.check({ login, password, source: { address, userAgent: '' } })
      return verdict.outcome
    }
    return { check, checker, common, compared, failed, locked, users }
  }
  async function times<T>(count: number, send: () => Promise<T>): Promise<T[]> {
    const all: T[] = []
    for (let i = 0; i < count; i++) all.push(await send())
    return all
  }

  it('accepts the correct password with the user name or the e-mail address', async () => {
    const { check, failed } = make()
    expect(await check('alice', 'right')).to.equal('right')
    expect(await check('alice@kapis.io', 'right')).to.equal('right')
    expect(failed).to.deep.equal([])
  })

  it('returns the same for a wrong password and an unknown name, before and after the lock', async () => {
    const expected = ['wrong', 'wrong', 'wrong', 'locked', 'locked']
    const { check, compared, locked } = make()
    for (const login of ['alice', 'nonexistent', 'nonexistent@kapis.io'])
      expect(await times(5, () => check(login, 'wrong'))).to.deep.equal(expected)
    expect(compared).to.have.length(9)
    expect(locked).to.deep.equal(['login', 'user', 'login', 'login'])
  })

  it('counts wrong second factors like wrong passwords, for the user and the address', async () => {
    const { check, checker, failed, users } = make()
    const user = users.get('alice') ?? expect.fail()
    const tried: boolean[] = []
    const factor = async (isRight: boolean, address = '198.51.100.1') => {
      const verify = async () => tried.push(isRight) > 0 && isRight
      return (await checker.checkFactor({ user, source: { address, userAgent: '' } }, verify)).outcome
    }
    expect(await factor(true)).to.equal('right')
    expect(await check('alice', 'wrong')).to.equal('wrong')
    expect([await factor(false), await factor(false)]).to.deep.equal(['wrong', 'wrong'])
    expect(failed.map(({ reason }) => reason)).to.deep.equal([
      ...['incorrect password', 'incorrect second factor', 'incorrect second factor'],
    ])
    // While the user is locked, neither a correct factor nor a correct password works, from any
    // address.
    expect(await factor(true, '198.51.100.2')).to.equal('locked')
    expect(await check('alice', 'right')).to.equal('locked')
    expect(tried).to.have.length(3)
  })

  it('does not check the second factor of a user whom an administrator or another replica has locked', async () => {
    const { checker, users } = make({ state: 'AuthLimitExceeded', stateSinceMs: Date.now() })
    const user = users.get('alice') ?? expect.fail()
    const attempt = { user, source: { address: '198.51.100.1', userAgent: '' } }
    const verdict = await checker.checkFactor(attempt, () => Promise.reject(new Error('checked')))
    expect(verdict.outcome).to.equal('locked')
  })

  it('checks second factors one at a time near the limit, and ends an attempt that throws', async () => {
    const { checker, users } = make()
    const user = users.get('alice') ?? expect.fail()
    const attempt = { user, source: { address: '198.51.100.1', userAgent: '' } }
    for (let i = 0; i < 10; i++)
      expect(
        await checker.checkFactor(attempt, () => Promise.reject(new Error('503'))).catch(e => e.message),
      ).to.equal('503')
    let checked = 0
    const burst = Array.from({ length: 8 }, () => checker.checkFactor(attempt, async () => ++checked < 0))
    const outcomes = (await Promise.all(burst)).map(({ outcome }) => outcome)
    expect([checked, outcomes.filter(outcome => outcome === 'locked').length]).to.deep.equal([3, 5])
  })

  it('counts a login that an identity provider rejected for the login name, not for the user', async () => {
    const { check, checker, failed, locked, users } = make()
    const alice = users.get('alice')
    const source = { address: '192.0.2.1', userAgent: '' }
    for (let i = 0; i < 3; i++) {
      const attempt = await checker.begin({ login: 'ldap alice', provider: 'ldap', source })
      if ('lockedUntilMs' in attempt) throw new Error('locked too early')
      await attempt.failed(alice, 'alice')
    }
    const attempt = {
      login: 'ldap alice',
      user: alice,
      provider: 'ldap',
      reason: 'incorrect password',
      source,
    }
    expect(failed).to.deep.equal([attempt, attempt, attempt])
    expect(locked).to.deep.equal(['login'])
    expect(await checker.begin({ login: 'ldap alice', provider: 'ldap', source }))
      .to.include({ knownAs: 'alice' })
      .and.have.property('lockedUntilMs')
    expect(await check('alice', 'right')).to.equal('right')
  })

  it('does not compare even the correct password while the user is locked', async () => {
    const { check, compared } = make()
    await times(3, () => check('alice', 'wrong'))
    expect(await check('alice', 'right')).to.equal('locked')
    expect(compared).to.have.length(3)
  })

  it('does not reveal that two names belong to one user: each is locked after its own failures', async () => {
    const { check, compared } = make()
    await times(3, () => check('alice', 'wrong'))
    const other = await times(4, () => check('alice@kapis.io', 'right'))
    expect(other).to.deep.equal(['wrong', 'wrong', 'wrong', 'locked'])
    expect(compared.slice(3)).to.deep.equal([undefined, undefined, undefined])
  })

  it('allows no additional attempts by combining both names', async () => {
    const { check, compared } = make()
    await check('alice', 'wrong')
    await check('alice', 'wrong')
    await check('alice@kapis.io', 'wrong')
    await check('alice@kapis.io', 'right')
    expect(compared).to.deep.equal(['right', 'right', 'right', undefined])
  })

  it('locks an address that tries many names', async () => {
    const { check } = make()
    for (const name of ['a', 'b', 'c', 'd', 'e'])
      expect(await check(name, 'x', '192.0.2.99')).to.equal('wrong')
    expect(await check('alice', 'right', '192.0.2.99')).to.equal('locked')
    expect(await check('alice', 'right', '192.0.2.98')).to.equal('right')
  })

  it('checks at most as many passwords of a burst as may fail', async () => {
    const { check, compared } = make()
    const outcomes = await Promise.all(Array.from({ length: 1000 }, (_, i) => check('alice', `guess ${i}`)))
    expect(compared).to.have.length(3)
    expect(outcomes.filter(outcome => outcome === 'locked')).to.have.length(997)
  })

  it('returns when to try again', async () => {
    const { checker } = make({ state: 'AuthLimitExceeded', stateSinceMs: Date.now() - 590_000 })
    const source = { address: '', userAgent: '' }
    const verdict = await checker.check({ login: 'alice', password: 'right', source })
    expect(verdict).to.include({ outcome: 'locked' })
    expect(verdict).to.have.property('retryAfterSeconds').within(9, 10)
  })

  it('ends an expired lock before any replica has stored that', async () => {
    const { check } = make({ state: 'AuthLimitExceeded', stateSinceMs: Date.now() - 600_000 })
    expect(await check('alice', 'right')).to.equal('right')
  })

  it('resets the count of a user whom an administrator has unlocked', async () => {
    const { check, users } = make()
    await times(3, () => check('alice', 'wrong'))
    users.set('alice', memoryUser('alice', { stateSinceMs: Date.now() + 1 }))
    expect(await check('alice', 'right')).to.equal('right')
  })

  it('does not count an attempt without a comparison', async () => {
    const { check, checker } = make()
    const gone = AbortSignal.abort(new Error('gone'))
    const source = { address: '192.0.2.1', userAgent: '' }
    for (let i = 0; i < 5; i++) {
      const asked = checker.check({ login: 'alice', password: 'x', source, signal: gone })
      expect(await asked.catch(String)).to.equal('Error: gone')
    }
    expect(await check('alice', 'right')).to.equal('right')
  })

  it('records the known attributes of each failure', async () => {
    const { check, failed, users } = make()
    await check('alice@kapis.io', 'wrong', '192.0.2.5')
    await check('nonexistent', 'wrong', '192.0.2.6')
    expect(failed).to.deep.equal([
      {
        login: 'alice@kapis.io',
        user: users.get('alice'),
        provider: '',
        reason: 'incorrect password',
        source: { address: '192.0.2.5', userAgent: '' },
      },
      {
        login: 'nonexistent',
        user: undefined,
        provider: '',
        reason: 'incorrect password',
        source: { address: '192.0.2.6', userAgent: '' },
      },
    ])
  })

  describe('when other replicas have counted failures', () => {
    it('does not reveal beyond the limit that a password was wrong', async () => {
      const { check, common } = make()
      common.failures = 3
      expect(await check('alice', 'wrong')).to.equal('wrong')
      common.failures = 4
      expect(await check('alice', 'wrong')).to.equal('locked')
      expect(await check('nonexistent', 'wrong')).to.equal('locked')
    })

    it('does not reveal beyond the limit that a password was correct', async () => {
      const { check, common } = make()
      common.failures = 2
      await check('alice', 'wrong')
      expect(await check('alice', 'right')).to.equal('right')
      common.failures = 4
      expect(await check('alice', 'right')).to.equal('locked')
    })

    it('accepts only the first attempt while the failures of other replicas are not loaded', async () => {
      const bursts: readonly (readonly [guesses: string[], outcomes: string[]])[] = [
        [
          ['right', 'wrong', 'right'],
          ['right', 'locked', 'locked'],
        ],
        [
          ['wrong', 'right', 'right'],
          ['locked', 'locked', 'locked'],
        ],
      ]
      for (const [guesses, outcomes] of bursts) {
        const { check, common } = make()
        // Three failures of other replicas, and the next one.
        common.failures = 4
        expect(await Promise.all(guesses.map(guess => check('alice', guess)))).to.deep.equal(outcomes)
      }
    })

    it('does not reveal to an address beyond the limit whether a password was correct', async () => {
      const { check, common } = make()
      const from = '192.0.2.99'
      common.fromAddress = 5
      expect(await check('bob', 'wrong', from)).to.equal('wrong')
      common.fromAddress = 6
      expect(await check('carol', 'wrong', from)).to.equal('locked')
      // Many users share an address, so one failure of the address does not query the shared
      // counter.
      expect(await check('alice', 'right', from)).to.equal('right')
      expect(common.questions).to.equal(0)
      expect(await check('dave', 'wrong', from)).to.equal('locked')
      expect(await check('alice', 'right', from)).to.equal('locked')
      expect(await check('alice', 'right', '192.0.2.98')).to.equal('right')
    })

    it('sends no request for a login without failures', async () => {
      const { check, common } = make()
      await times(3, () => check('alice', 'right'))
      expect(common.questions).to.equal(0)
    })
  })
})
