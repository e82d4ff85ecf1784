import { expect } from 'chai'
import { eventually, groupDomain, sendAs } from './http.ts'
import { createPerson } from './kapis.ts'
import { setting } from './run.ts'

describe('kapis token', function () {
  this.timeout(60_000)
  const person = createPerson('token')

  async function say(args: readonly string[], stdin?: string) {
    const ran = await person.kapis(args, stdin === undefined ? {} : { stdin })
    expect(ran.code, ran.stderr).to.equal(0)
    return ran
  }

  before(async () => {
    await say(['login', '-u', setting('KAPIS_USER'), '--no-kubeconfig'], `${setting('KAPIS_PASSWORD')}\n`)
  })

  it('creates a token for a script, lists it without its value, and revokes it', async () => {
    const { stdout, stderr } = await say(['token', 'create', 'ci', '--duration', '1h'])
    const token = stdout.trim()
    expect(token).to.match(/^[\w-]+\.[\w-]+\.[\w-]+$/)
    const id = / Its ID is (\S+)\.\n$/.exec(stderr)?.[1] ?? ''
    const list = await say(['token', 'list'])
    expect(list.stdout).to.match(new RegExp(`^ID +NAME +SCOPE +CREATED +EXPIRES\\n(.*\\n)*${id} +ci +full `))
    expect(list.stdout).to.not.include(token)
    const whoami = await person.kapis(['whoami'], { env: { KAPIS_TOKEN: token, KAPIS_HOME: '/nonexistent' } })
    expect(whoami.stdout, whoami.stderr).to.match(new RegExp(`^${setting('KAPIS_USER')}\n`))
    await say(['token', 'delete', id])
    const path = `/kapis/iam.${groupDomain}/v1alpha2/users/${setting('KAPIS_USER')}`
    await eventually(async () => {
      expect((await sendAs(token, path)).code).to.equal(401)
    }, 2_000)
    const gone = await person.kapis(['token', 'delete', id])
    expect([gone.code, gone.stderr]).to.deep.equal([
      1,
      'kapis token: failed to delete the token: unknown personal access token\n',
    ])
  })

  const wrong: readonly [readonly string[], string][] = [
    [['token'], 'missing action; supported: create, list, delete'],
    [['token', 'frob'], 'unknown action "frob"; supported: create, list, delete'],
    [['token', 'create'], 'create needs a NAME'],
    [['token', 'delete'], 'delete needs an ID'],
    [
      ['token', 'create', 'x', '--duration', 'soon'],
      'invalid --duration "soon": expected a time such as 12h or 30d',
    ],
  ]
  for (const [args, message] of wrong) {
    it(`reports what is wrong with ${args.join(' ')}`, async () => {
      expect(await person.kapis(args)).to.deep.equal({
        code: 2,
        stdout: '',
        stderr: `kapis token: ${message}\nRun \`kapis help token\` for its usage.\n`,
      })
    })
  }
})
