import { hash } from '@node-rs/bcrypt'
import { expect } from 'chai'
import { createPasswordHasher, type PasswordHasher } from './password.ts'

describe('createPasswordHasher', () => {
  let hasher: PasswordHasher
  let stored: string
  before(async () => {
    hasher = await createPasswordHasher()
    stored = await hasher.hash('Correct horse 1')
  })

  it('hashes with bcrypt of cost 10, like KubeSphere', () => {
    expect(stored).to.match(/^\$2b\$10\$[./A-Za-z0-9]{53}$/)
  })

  it('verifies the password', async () => {
    expect(await hasher.verify('Correct horse 1', stored)).to.equal(true)
    // Go and older tools write the prefix $2a$.
    expect(await hasher.verify('Correct horse 1', stored.replace('$2b$', '$2a$'))).to.equal(true)
  })

  const wrong: readonly [string, string][] = [
    ['another password', 'correct horse 1'],
    ['an empty password', ''],
    ['the hash itself', '$2b$10$'],
    ['the password with a suffix', `Correct horse 1${'x'.repeat(2000)}`],
  ]
  for (const [what, password] of wrong) {
    it(`rejects ${what}`, async () => {
      expect(await hasher.verify(password, stored)).to.equal(false)
    })
  }

  it('rejects every password without a hash, including the dummy', async () => {
    for (const password of ['', 'x', 'Correct horse 1'])
      expect(await hasher.verify(password, undefined)).to.equal(false)
  })

  it('takes the same time for an unknown user, and for a user with a cheaper hash', async () => {
    const kinds = new Map<string, string | undefined>([
      ['known', stored],
      ['nonexistent', undefined],
      ['cost 4', await hash('Correct horse 1', 4)],
      ['cost 9', await hash('Correct horse 1', 9)],
    ])
    const samples = new Map([...kinds.keys()].map(kind => [kind, [] as number[]]))
    // Measured in turn, so that other load on the machine affects all of them.
    for (let i = 0; i < 7; i++) {
      for (const [kind, each] of kinds) {
        const startedAt = performance.now()
        expect(await hasher.verify('wrong', each)).to.equal(false)
        samples.get(kind)?.push(performance.now() - startedAt)
      }
    }
    const medianOf = (kind: string) => (samples.get(kind) ?? []).sort((a, b) => a - b)[3] ?? 0
    for (const kind of kinds.keys()) expect(medianOf(kind) / medianOf('known'), kind).to.be.within(0.6, 1.7)
  }).timeout(20_000)

  it('verifies the password of a cheaper hash, and of a more expensive one', async () => {
    for (const cost of [4, 9, 11]) {
      const other = await hash('Correct horse 1', cost)
      expect(await hasher.verify('Correct horse 1', other)).to.equal(true)
      expect(await hasher.verify('correct horse 1', other)).to.equal(false)
    }
  }).timeout(20_000)

  it('does not block the event loop', async () => {
    let ticks = 0
    const timer = setInterval(() => ticks++, 2)
    const startedAt = performance.now()
    await Promise.all(Array.from({ length: 6 }, () => hasher.verify('wrong', stored)))
    clearInterval(timer)
    expect(ticks).to.be.greaterThan((performance.now() - startedAt) / 20)
  }).timeout(10_000)
})
