import { expect } from 'chai'
import { createPasswordHasher, type PasswordHasher } from '../passwords/password.ts'
import type { PasswordChecker } from '../passwords/password-check.ts'
import { memoryUser } from '../users/fixtures.ts'
import { createFactorService } from './factor-service.ts'
import { memoryFactorStore, totpCode } from './fixtures.ts'
import { newTotpSecret } from './totp.ts'

const alice = memoryUser('alice')
const source = { address: '192.0.2.1', userAgent: '' }

/** A password checker without a lockout. */
const passwords: Pick<PasswordChecker, 'checkFactor'> = {
  checkFactor: async ({ user }, verify) => ({ outcome: (await verify()) ? 'right' : 'wrong', user }),
}

async function createService(
  requiredGroups: readonly string[] = [],
  hasher?: Pick<PasswordHasher, 'hash' | 'verify'>,
) {
  const store = memoryFactorStore()
  const service = createFactorService({
    store,
    passwords,
    hasher: hasher ?? (await createPasswordHasher(2)),
    requiredGroups: () => requiredGroups,
    party: undefined,
  })
  const check = async (kind: 'totp' | 'recovery', code: string) =>
    (await service.checkCode({ user: alice, source }, { kind, code })).outcome
  return { ...service, store, check }
}

describe('createFactorService', () => {
  it('stores an app after a first valid code, with ten hashed recovery codes', async () => {
    const { addTotp, store, check } = await createService()
    const secret = newTotpSecret()
    expect(await addTotp(alice, { secret, code: '000000', mayReplace: false })).to.deep.equal({
      outcome: 'wrong_code',
    })
    expect(store.stored.size).to.equal(0)
    const first = totpCode(secret)
    const added = await addTotp(alice, { secret, code: first, mayReplace: false })
    const codes = added.outcome === 'stored' ? added.recoveryCodes : []
    expect(new Set(codes).size).to.equal(10)
    for (const code of codes) {
      expect(code).to.match(/^([A-HJ-NP-Z2-9]{4}-){2}[A-HJ-NP-Z2-9]{4}$/)
      expect(JSON.stringify([...store.stored])).to.not.include(code.replaceAll('-', '').slice(2))
    }
    // The enrolment has used the code up.
    expect(await check('totp', first)).to.equal('wrong')
    const second = totpCode(secret, 1)
    expect(await check('totp', second)).to.equal('right')
    expect(await check('totp', second)).to.equal('wrong')
  })

  it('accepts each recovery code once, in any spelling', async () => {
    const { addTotp, check, read } = await createService()
    const secret = newTotpSecret()
    const added = await addTotp(alice, { secret, code: totpCode(secret), mayReplace: false })
    const [first = '', second = ''] = added.outcome === 'stored' ? added.recoveryCodes : []
    expect(await check('recovery', first.toLowerCase().replaceAll('-', ' '))).to.equal('right')
    expect(await check('recovery', first)).to.equal('wrong')
    expect(await check('recovery', `${second.slice(0, -1)}`)).to.equal('wrong')
    expect(await check('recovery', '')).to.equal('wrong')
    expect((await read(alice)).recoveryCodes).to.have.length(9)
    const both = await Promise.all([check('recovery', second), check('recovery', second)])
    expect(both.sort()).to.deep.equal(['right', 'wrong'])
  })

  it('replaces an app only for a user who has used the old one, and keeps the recovery codes', async () => {
    const { addTotp, read } = await createService()
    const [old, next] = [newTotpSecret(), newTotpSecret()]
    await addTotp(alice, { secret: old, code: totpCode(old), mayReplace: false })
    const { recoveryCodes } = await read(alice)
    const app = { secret: next, code: totpCode(next) }
    expect(await addTotp(alice, { ...app, mayReplace: false })).to.deep.equal({ outcome: 'refused' })
    expect((await read(alice)).totp?.secret).to.equal(old)
    expect(await addTotp(alice, { ...app, mayReplace: true })).to.deep.equal({
      outcome: 'stored',
      recoveryCodes: [],
    })
    expect((await read(alice)).totp?.secret).to.equal(next)
    expect((await read(alice)).recoveryCodes).to.deep.equal(recoveryCodes)
  })

  it('deletes everything of a removed app, and creates recovery codes only with a factor', async () => {
    const { addTotp, removeTotp, renewRecoveryCodes, check, store } = await createService()
    const secret = newTotpSecret()
    const added = await addTotp(alice, { secret, code: totpCode(secret), mayReplace: false })
    const renewed = await renewRecoveryCodes(alice)
    expect(renewed).to.have.length(10)
    const [earlier = ''] = added.outcome === 'stored' ? added.recoveryCodes : []
    expect(await check('recovery', earlier)).to.equal('wrong')
    expect(await removeTotp(alice)).to.equal('removed')
    expect(await removeTotp(alice)).to.equal('missing')
    expect(store.stored.size).to.equal(0)
    expect(await renewRecoveryCodes(alice)).to.equal(undefined)
    expect(await check('recovery', renewed?.[0] ?? '')).to.equal('wrong')
  })

  it('limits new recovery codes per user, since each set costs ten hashes', async () => {
    const quick = { hash: async (code: string) => code, verify: async () => false }
    const { addTotp, removeTotp, renewRecoveryCodes, store } = await createService([], quick)
    const set = async (user = alice) => {
      const secret = newTotpSecret()
      return addTotp(user, { secret, code: totpCode(secret), mayReplace: false })
    }
    await set()
    for (let count = 0; count < 3; count++) expect(await renewRecoveryCodes(alice)).to.have.length(10)
    expect(await removeTotp(alice)).to.equal('removed')
    expect((await set()).outcome).to.equal('stored')
    const known = store.stored.get('alice')
    const refused = await renewRecoveryCodes(alice).catch(error => error)
    expect([refused.code, refused.reason, refused.message]).to.deep.equal([
      429,
      'slow_down',
      'too many new recovery codes: try again in ten minutes',
    ])
    expect(Number(refused.headers['retry-after'])).to.be.within(1, 600)
    expect(store.stored.get('alice')).to.equal(known)
    expect((await set(memoryUser('bob'))).outcome).to.equal('stored')
  })

  for (const [groups, isRequired] of [
    [[], false],
    [['ops'], false],
    [['ops', 'dev'], true],
    [['system:authenticated'], true],
  ] as const)
    it(`reports ${isRequired} for whether a user in dev needs a factor, with the policy groups ${groups.join() || 'none'}`, async () => {
      expect((await createService(groups)).isRequired(alice)).to.equal(isRequired)
    })
})
