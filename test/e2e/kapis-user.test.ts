import { expect } from 'chai'
import { kubectl, uniqueName } from './cluster.ts'
import { eventually, groupDomain, logIn } from './http.ts'
import { createPerson } from './kapis.ts'
import { setting } from './run.ts'

const name = uniqueName('cli-user')
const password = 'Correct horse 1'

describe('kapis user', function () {
  this.timeout(60_000)
  const admin = createPerson('admin')

  async function say(args: readonly string[], stdin?: string): Promise<string> {
    const ran = await admin.kapis(args, stdin === undefined ? {} : { stdin })
    expect(ran.code, ran.stderr).to.equal(0)
    return ran.stdout + ran.stderr
  }
  async function untilLogin(secret: string, code: number): Promise<void> {
    await eventually(async () => {
      const response = await logIn(name, secret)
      expect(response.code, response.body).to.equal(code)
    }, 4_000)
  }

  before(async () => {
    await say(['login', '-u', setting('KAPIS_USER')], `${setting('KAPIS_PASSWORD')}\n`)
  })
  after(async () => {
    await kubectl('delete', `users.iam.${groupDomain}`, name, '--ignore-not-found')
  })

  it('creates, shows, disables, enables, unlocks and deletes a user', async () => {
    const create = ['user', 'create', name, '--email', `${name}@e2e.test`, '--group', 'qa', '--group', 'dev']
    expect(await say([...create, '--display-name', 'Q', '--must-change-password'], `${password}\n`)).to.equal(
      `user ${name} created\n`,
    )
    const user = JSON.parse(await say(['user', 'get', name, '-o', 'json']))
    expect(user.spec).to.deep.equal({ email: `${name}@e2e.test`, displayName: 'Q', groups: ['qa', 'dev'] })
    expect(user.metadata.annotations).to.include({ [`iam.${groupDomain}/uninitialized`]: 'true' })
    await untilLogin(password, 200)
    expect(await say(['user', 'list'])).to.match(
      new RegExp(
        `^NAME +EMAIL +STATE +GROUPS +LAST LOGIN\\n(.*\\n)*${name} +${name}@e2e.test +Active +qa,dev `,
      ),
    )
    await say(['user', 'disable', name])
    await untilLogin(password, 400)
    const unlock = await admin.kapis(['user', 'unlock', name])
    expect([unlock.code, unlock.stderr]).to.deep.equal([
      1,
      `kapis user: user ${name} is disabled, not locked: run \`kapis user enable ${name}\`\n`,
    ])
    await say(['user', 'enable', name])
    await untilLogin(password, 200)
    for (let i = 0; i < 10; i++) await logIn(name, 'wrong')
    await untilLogin(password, 429)
    await eventually(async () => {
      expect(JSON.parse(await say(['user', 'get', name, '-o', 'json'])).status.state).to.equal(
        'AuthLimitExceeded',
      )
    }, 10_000)
    await say(['user', 'unlock', name])
    await untilLogin(password, 200)
    await say(['user', 'set-password', name], 'Another horse 2\n')
    await untilLogin('Another horse 2', 200)
    expect(await say(['user', 'delete', name])).to.equal(`user ${name} deleted\n`)
    const gone = await admin.kapis(['user', 'get', name])
    expect([gone.code, gone.stderr]).to.deep.equal([
      1,
      `kapis user: failed to read the user: users.iam.${groupDomain} "${name}" not found\n`,
    ])
  })

  it('lets users change their own password, but not those of others', async () => {
    const own = uniqueName('cli-own')
    await say(['user', 'create', own, '--email', `${own}@e2e.test`], `${password}\n`)
    try {
      const person = createPerson('own')
      await eventually(async () => {
        const ran = await person.kapis(['login', '-u', own], { stdin: `${password}\n` })
        expect(ran.code, ran.stderr).to.equal(0)
      }, 4_000)
      const who = await person.kapis(['whoami'])
      expect(who.stdout).to.equal(
        `${own}\n  groups: system:authenticated\n  server: ${new URL(setting('KAPIS_URL')).origin}\n`,
      )
      const other = await person.kapis(['user', 'disable', setting('KAPIS_USER')])
      expect([other.code, other.stderr]).to.satisfy(
        ([code, text]: [number, string]) =>
          code === 1 && text.includes(`User "${own}" cannot update resource "users/status"`),
      )
      const stdin = `${password}\nAnother horse 2\n`
      const changed = await person.kapis(['user', 'set-password', own, '--own'], { stdin })
      expect(changed.code, changed.stderr).to.equal(0)
      await eventually(async () => expectCode(await logIn(own, 'Another horse 2'), 200), 4_000)
    } finally {
      await kubectl('delete', `users.iam.${groupDomain}`, own)
    }
  })

  const wrong: readonly [readonly string[], number, string][] = [
    [
      ['user'],
      2,
      'missing action; supported: create, list, get, disable, enable, unlock, set-password, reset-factors, delete',
    ],
    [
      ['user', 'frob'],
      2,
      'unknown action "frob"; supported: create, list, get, disable, enable, unlock, set-password, reset-factors, delete',
    ],
    [['user', 'get'], 2, 'get needs a NAME'],
    [['user', 'list', 'x'], 2, 'unexpected argument "x"'],
    [['user', 'create', 'x'], 2, 'create needs --email'],
  ]
  for (const [args, code, message] of wrong) {
    it(`reports what is wrong with ${args.join(' ')}`, async () => {
      const ran = await admin.kapis(args, { stdin: `${password}\n` })
      expect(ran).to.deep.equal({
        code,
        stdout: '',
        stderr: `kapis user: ${message}\nRun \`kapis help user\` for its usage.\n`,
      })
    })
  }

  it('prints the error of kapis-apiserver for a weak password, without the password', async () => {
    const ran = await admin.kapis(['user', 'create', uniqueName('weak'), '--email', 'a@b.c'], {
      stdin: 'hunter2\n',
    })
    expect(ran.code).to.equal(1)
    expect(ran.stderr).to.include('spec.password: must have 8 to 64 characters').and.not.include('hunter2')
  })
})

function expectCode({ code, body }: { code: number; body: string }, expected: number): void {
  expect(code, body).to.equal(expected)
}
