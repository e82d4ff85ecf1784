import { expect } from 'chai'
import { kubectl, uniqueName } from './cluster.ts'
import { groupDomain } from './http.ts'
import { iamVersion } from './oauth.ts'
import { type CommandResult, run } from './run.ts'

/**
 * A User written directly at kube-apiserver: its schema rejects a plain-text password, and the
 * error does not repeat it on the screen or in logs.
 */
describe('a plain-text password in a User object', function () {
  this.timeout(60_000)
  const name = uniqueName('plain')
  const hash = `$2b$10$${'a'.repeat(53)}`
  const text = 'must be a bcrypt hash of a cost from 4 to 15, and never a plain-text password'
  after(() => kubectl('delete', `users.iam.${groupDomain}`, name, '--ignore-not-found'))

  const apply = (password: unknown, ...args: readonly string[]): Promise<CommandResult> => {
    const spec = { email: 'plain@e2e.test', password }
    const user = { apiVersion: iamVersion, kind: 'User', metadata: { name }, spec }
    return run('kubectl', [...args, '-f', '-'], { stdin: JSON.stringify(user) })
  }

  const rows: readonly [string, string][] = [
    ['a password', 'Sup3rSecret-plain'],
    ['a long password', 'Sup3rSecret-plain'.repeat(20)],
    ['a password with several lines', `${hash}\nSup3rSecret-plain`],
    ['a hash with a suffix', `${hash}Sup3rSecret-plain`],
    ['a hash with a line break at the end', `${hash}\n`],
    ['a hash with a prefix', `Sup3rSecret-plain${hash}`],
    ['a hash with another cost', hash.replace('$10$', '$16$')],
    ['a hash without a cost', hash.replace('$10$', '$03$')],
    ['a hash of another type', hash.replace('$2b$', '$2x$')],
    ['nothing', ''],
  ]
  for (const [what, password] of rows) {
    it(`is rejected and not quoted: ${what}`, async () => {
      for (const args of [['apply'], ['create'], ['apply', '--server-side']]) {
        const { code, stdout, stderr } = await apply(password, ...args)
        expect([code, stdout]).to.deep.equal([1, ''])
        expect(stderr).to.equal(`The User "${name}" is invalid: spec.password: Forbidden: ${text}\n`)
      }
    })
  }

  it('is rejected and not quoted if its length differs from a hash, or it is not a string', async () => {
    for (const password of ['Sup3rSecret-plain'.repeat(100), 20260101, ['Sup3rSecret-plain']]) {
      const { code, stderr } = await apply(password, 'apply')
      expect(code).to.equal(1)
      expect(stderr)
        .to.include('spec.password')
        .and.not.match(/Sup3rSecret|20260101/)
    }
  })

  it('that is a hash is accepted', async () => {
    for (const kind of ['$2a$', '$2b$', '$2y$']) {
      const { code, stderr } = await apply(hash.replace('$2b$', kind), 'apply')
      expect([code, stderr]).to.deep.equal([0, ''])
    }
  })
})
