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
    // As Go and older tools write it.
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

  it('takes as long for a user who does not exist', async () => {
    const measure = async (hash: string | undefined) => {
      const samples: number[] = []
      for (let i = 0; i < 7; i++) {
        const startedAt = performance.now()
        await hasher.verify('wrong', hash)
        samples.push(performance.now() - startedAt)
      }
      return samples.sort((a, b) => a - b)[3] ?? 0
    }
    const [known, unknown] = [await measure(stored), await measure(undefined)]
    expect(unknown / known).to.be.within(0.6, 1.7)
  }).timeout(10_000)

  it('leaves the event loop alone', async () => {
    let ticks = 0
    const timer = setInterval(() => ticks++, 2)
    const startedAt = performance.now()
    await Promise.all(Array.from({ length: 6 }, () => hasher.verify('wrong', stored)))
    clearInterval(timer)
    expect(ticks).to.be.greaterThan((performance.now() - startedAt) / 20)
  }).timeout(10_000)
})
