import { join } from 'node:path'
import { expect } from 'chai'
import { repository } from '../../hack/controlplane/settings.ts'
import { kubectl, uniqueName } from './cluster.ts'
import { eventually, groupDomain, logIn } from './http.ts'
import { createPerson } from './kapis.ts'
import { run, setting } from './run.ts'

const typist = join(repository, 'test/peers/type.py')
const program = join(repository, 'cmd/kapis/main.ts')
const name = uniqueName('cli-tty')
const [first, second] = ['Correct horse 1', 'Another horse 2']

describe('kapis in a terminal', function () {
  this.timeout(120_000)
  const person = createPerson('terminal')

  /** Types a response to each prompt. */
  async function type(args: readonly string[], ...steps: readonly (readonly [string, string])[]) {
    const command = [typist, process.execPath, program, ...args]
    const ran = await run('python3', command, { stdin: JSON.stringify(steps), env: person.env })
    expect(ran.code, `${ran.stdout}\n${ran.stderr}`).to.equal(0)
    for (const secret of [first, second]) expect(ran.stdout, 'no echo').to.not.include(secret)
    return ran.stdout
  }
  async function untilLogin(password: string, code: number): Promise<void> {
    await eventually(async () => {
      const response = await logIn(name, password)
      expect(response.code, response.body).to.equal(code)
    }, 4_000)
  }

  after(async () => {
    await kubectl('delete', `users.iam.${groupDomain}`, name, '--ignore-not-found')
  })

  it('reads passwords without echo, and new ones twice', async () => {
    const login = ['login', '-u', setting('KAPIS_USER'), '--no-kubeconfig']
    await type(login, ['Password of ', `${setting('KAPIS_PASSWORD')}\r`], ['Logged in at', ''])

    const create = ['user', 'create', name, '--email', `${name}@e2e.test`]
    await type(
      create,
      ['Password of', `${first}\r`],
      ['Repeat the password: ', `${second}\r`],
      ['the passwords do not match; nothing was changed', ''],
    )
    expect((await person.kapis(['user', 'get', name])).code).to.equal(1)
    // A typing error is corrected with backspace, and arrow keys are ignored.
    await type(
      create,
      ['Password of', `${first}x\u007f\r`],
      ['Repeat the password: ', `\u001b[D\u001b[C${first}\r`],
      [`user ${name} created`, ''],
    )
    await untilLogin(first, 200)
    const change = ['user', 'set-password', name]
    await type(
      change,
      ['New password of', `${second}\r`],
      ['Repeat the password: ', `${second}\r`],
      ['changed; all their logins have ended', ''],
    )
    await untilLogin(second, 200)
  })

  it('reads the current password once and the new one twice for a password change', async () => {
    const login = ['login', '-u', name, '--no-kubeconfig', '--context', 'own']
    await type(login, ['Password of ', `${second}\r`], ['Logged in at', ''])
    await type(
      ['user', 'set-password', name, '--own', '--context', 'own'],
      ['Current password: ', `${second}\r`],
      ['New password of', `${first}\r`],
      ['Repeat the password: ', `${first}\r`],
      ['changed; all their logins have ended', ''],
    )
    await untilLogin(first, 200)
  })

  it('ends on Ctrl-C at a prompt', async () => {
    const shown = await type(['login', '-u', name], ['Password of ', 'abc\u0003'], ['interrupted', ''])
    expect(shown).to.match(/kapis login: interrupted/)
  })
})
