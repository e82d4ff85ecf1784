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

  it('hashes as the platform does: bcrypt of cost 10', () => {
    expect(stored).to.match(/^\$2b\$10\$[./A-Za-z0-9]{53}$/)
  })

  it('knows the password again', async () => {
    expect(await hasher.verify('Correct horse 1', stored)).to.equal(true)
    // Go and older tools write the prefix $2a$.
    expect(await hasher.verify('Correct horse 1', stored.replace('$2b$', '$2a$'))).to.equal(true)
  })

  const wrong: readonly [string, string][] = [
    ['another password', 'correct horse 1'],
    ['an empty one', ''],
    ['the hash itself', '$2b$10$'],
    ['one with more behind it', `Correct horse 1${'x'.repeat(2000)}`],
  ]
  for (const [what, password] of wrong) {
    it(`refuses ${what}`, async () => {
      expect(await hasher.verify(password, stored)).to.equal(false)
    })
  }

  it('refuses everything where there is no hash, what it puts in its place too', async () => {
    for (const password of ['', 'x', 'Correct horse 1'])
      expect(await hasher.verify(password, undefined)).to.equal(false)
  })

  it('takes as long for a user who does not exist, and for one whose hash is a cheaper one', async () => {
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

  it('knows the password of a cheaper hash, and of a more expensive one', async () => {
    for (const cost of [4, 9, 11]) {
      const other = await hash('Correct horse 1', cost)
      expect(await hasher.verify('Correct horse 1', other)).to.equal(true)
      expect(await hasher.verify('correct horse 1', other)).to.equal(false)
    }
  }).timeout(20_000)

  it('leaves the event loop alone', async () => {
    let ticks = 0
    const timer = setInterval(() => ticks++, 2)
    const startedAt = performance.now()
    await Promise.all(Array.from({ length: 6 }, () => hasher.verify('wrong', stored)))
    clearInterval(timer)
    expect(ticks).to.be.greaterThan((performance.now() - startedAt) / 20)
  }).timeout(10_000)
})
