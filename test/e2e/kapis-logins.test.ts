import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { uniqueName } from './cluster.ts'
import { createPerson, type KapisUser } from './kapis.ts'
import { createUser, removeUser } from './oauth.ts'
import { type CommandResult, setting } from './run.ts'

const password = 'Correct horse 1'
const alice = uniqueName('cli-alice')
const mallory = uniqueName('cli-bob')
const server = new URL(setting('KAPIS_URL')).origin

describe('several kapis logins', function () {
  this.timeout(120_000)
  let person: KapisUser

  function succeeded(ran: CommandResult): CommandResult {
    expect(ran.code, ran.stderr).to.equal(0)
    return ran
  }
  const logIn = (username: string, ...args: readonly string[]) =>
    person.kapis(['login', '-u', username, ...args], { stdin: `${password}\n` })
  const whoIs = async (...args: readonly string[]) => {
    const path = 'jsonpath={.status.userInfo.username}'
    return succeeded(await person.kubectl(...args, 'auth', 'whoami', '-o', path)).stdout
  }
  const current = async () => succeeded(await person.kubectl('config', 'current-context')).stdout.trim()

  before(async () => {
    for (const username of [alice, mallory]) await createUser({ username, password })
  })
  beforeEach(() => {
    person = createPerson('logins')
  })
  after(async () => {
    for (const username of [alice, mallory]) await removeUser(username)
  })

  it('keep several users of one server in separate contexts', async () => {
    succeeded(await logIn(alice, '--context', 'ali'))
    const second = succeeded(await logIn(mallory, '--context', 'y'))
    expect(second.stderr).to.equal(
      `Logged in at ${server} as ${mallory}.\nkubectl uses the context "y" of ${person.kubeconfig}.\n`,
    )
    expect([await whoIs('--context', 'ali'), await whoIs('--context', 'y'), await whoIs()]).to.deep.equal([
      alice,
      mallory,
      mallory,
    ])
    expect((await person.kapis(['whoami', '--context', 'ali'])).stdout).to.match(new RegExp(`^${alice}\n`))
    expect((await person.kapis(['whoami'])).stdout).to.match(new RegExp(`^${mallory}\n`))

    const listed = succeeded(await person.kapis(['login', 'list'])).stdout
    const time = '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ'
    expect(listed).to.match(
      new RegExp(
        `^CURRENT +NAME +USER +SERVER +TOKEN EXPIRES\\n +ali +${alice} +${server} +${time}\\n\\* +y +${mallory} +${server} +${time}\\n$`,
      ),
    )
    const asJson = JSON.parse(succeeded(await person.kapis(['login', 'list', '-o', 'json'])).stdout)
    expect(
      asJson.map((login: { name: string; isCurrent: boolean }) => [login.name, login.isCurrent]),
    ).to.deep.equal([
      ['ali', false],
      ['y', true],
    ])
    expect(JSON.stringify(asJson)).to.not.match(/eyJ/)

    succeeded(await person.kapis(['login', 'use', 'ali']))
    expect([await current(), await whoIs()]).to.deep.equal(['ali', alice])
    expect((await person.kapis(['whoami'])).stdout).to.match(new RegExp(`^${alice}\n`))

    succeeded(await person.kapis(['login', 'remove', 'y']))
    expect(succeeded(await person.kubectl('config', 'get-contexts', '-o', 'name')).stdout).to.equal('ali\n')
    expect(succeeded(await person.kubectl('config', 'get-users')).stdout).to.equal('NAME\nali\n')
    expect([await current(), await whoIs()]).to.deep.equal(['ali', alice])
    const gone = await person.kapis(['whoami', '--context', 'y'])
    expect([gone.code, gone.stderr]).to.deep.equal([
      2,
      'kapis whoami: unknown login "y"; stored logins: ali\nRun `kapis help whoami` for its usage.\n',
    ])
  })

  it('are not confused by a context without a user, as older versions wrote it', async () => {
    succeeded(await logIn(alice))
    const old = readFileSync(person.kubeconfig, 'utf8').replace(/\n *- "--context"\n *- kapis/, '')
    writeFileSync(person.kubeconfig, old)
    expect(await whoIs()).to.equal(alice)
    succeeded(await logIn(mallory, '--context', 'adm'))
    const refused = await person.kubectl('--context', 'kapis', 'get', 'nodes')
    expect([refused.code, refused.stderr]).to.satisfy(
      ([code, text]: [number, string]) =>
        code === 1 && text.includes(`several logins at ${server}: choose one with --context (adm, kapis)`),
    )
    succeeded(await logIn(alice))
    expect([await whoIs(), await whoIs('--context', 'adm')]).to.deep.equal([alice, mallory])
  })

  it('report which login is replaced', async () => {
    succeeded(await logIn(alice))
    const { stderr } = succeeded(await logIn(mallory))
    expect(stderr).to.include(`This replaced the login of ${alice}; use --context NAME to keep both.`)
  })

  it('store the CA of the server for every command', async () => {
    succeeded(await logIn(alice))
    for (const args of [['whoami'], ['whoami', '--server', server], ['get-token', '--server', server]])
      succeeded(await person.kapis(args, { env: { KAPIS_CA: '', KAPIS_URL: '' } }))
    succeeded(await person.kapis(['logout'], { env: { KAPIS_CA: '', KAPIS_URL: '' } }))
  })

  it('give precedence to KAPIS_TOKEN, and report when it is rejected', async () => {
    succeeded(await logIn(alice))
    const env = { KAPIS_TOKEN: 'a.b.c' }
    const printed = succeeded(
      await person.kapis(['get-token'], { env: { ...env, KAPIS_HOME: '/proc/none' } }),
    )
    expect(JSON.parse(printed.stdout).status).to.deep.equal({ token: 'a.b.c' })
    const elsewhere = await person.kapis(['get-token', '--server', 'https://other.test'], { env })
    expect([elsewhere.code, elsewhere.stderr]).to.deep.equal([
      1,
      'kapis get-token: not logged in at https://other.test (KAPIS_TOKEN is only used for KAPIS_URL): run `kapis login --server https://other.test`\n',
    ])
    const refused = await person.kapis(['whoami'], { env })
    expect([refused.code, refused.stderr]).to.deep.equal([
      1,
      'kapis whoami: failed to authenticate with KAPIS_TOKEN: Unauthorized\n',
    ])
  })

  it('report that a new login is needed when a token is rejected before its expiry', async () => {
    succeeded(await logIn(alice))
    const login = JSON.parse(readFileSync(person.loginFile(), 'utf8'))
    writeFileSync(person.loginFile(), JSON.stringify({ ...login, accessToken: 'a.b.c' }))
    const refused = await person.kapis(['whoami'])
    expect([refused.code, refused.stderr]).to.deep.equal([
      1,
      `kapis whoami: the login at ${server} has ended: run \`kapis login --server ${server} --context kapis\`\n`,
    ])
  })

  it('are not started when the files cannot be written afterwards', async () => {
    const folder = join(person.home, 'sub')
    mkdirSync(folder)
    const cases: readonly [string, Readonly<Record<string, string>>, string][] = [
      ['a folder', { KUBECONFIG: folder }, 'failed to read the kubeconfig: EISDIR'],
      [
        'no folder for it',
        { KUBECONFIG: '/proc/none/config' },
        'failed to make the folder /proc/none: ENOENT',
      ],
      [
        'a link into a folder that is not there',
        { KUBECONFIG: join(folder, 'link') },
        `failed to change the kubeconfig ${join(folder, 'link')}: ENOENT`,
      ],
      [
        'no folder for logins',
        { KAPIS_HOME: '/proc/none/x' },
        'failed to make the folder /proc/none: ENOENT',
      ],
      [
        'no home',
        { KAPIS_HOME: '', XDG_CONFIG_HOME: '', HOME: '/proc/none' },
        'failed to make the folder /proc/none',
      ],
      [
        'a damaged one',
        { KUBECONFIG: join(folder, 'bad') },
        `invalid kubeconfig ${join(folder, 'bad')}: users is not a list`,
      ],
    ]
    writeFileSync(join(folder, 'bad'), 'users: 1\n')
    symlinkSync(join(folder, 'missing', 'config'), join(folder, 'link'))
    for (const [what, env, message] of cases) {
      const started = performance.now()
      const ran = await person.kapis(['login', '-u', alice], {
        stdin: `${password}\n`,
        env,
        timeoutMs: 40_000,
      })
      expect([ran.code, ran.stdout], what).to.deep.equal([1, ''])
      expect(ran.stderr, what).to.include(`kapis login: ${message}`).and.not.include('Logged in')
      expect(performance.now() - started, 'it does not hang').to.be.below(30_000)
    }
  })

  it('write through a symlink, and pass the folder of the logins to kubectl', async () => {
    const real = join(person.home, 'real')
    writeFileSync(real, '# mine\n')
    chmodSync(real, 0o640)
    symlinkSync('real', person.kubeconfig)
    succeeded(await logIn(alice))
    expect(lstatSync(person.kubeconfig).isSymbolicLink()).to.equal(true)
    expect(readFileSync(real, 'utf8')).to.match(/^# mine\napiVersion: v1\n/)
    expect(lstatSync(real).mode & 0o777).to.equal(0o640)
    // The kubeconfig sets KAPIS_HOME for the plugin, since kubectl may run without this variable.
    const { stdout } = succeeded(
      await person.kubectl('config', 'view', '-o', 'jsonpath={.users[0].user.exec.env}'),
    )
    expect(JSON.parse(stdout)).to.deep.equal([{ name: 'KAPIS_HOME', value: person.home }])
    expect(existsSync(`${person.kubeconfig}.lock`)).to.equal(false)
    rmSync(person.kubeconfig)
  })

  it('end on a signal as other programs do', async () => {
    const begun = person.begin(['login', '--no-browser'])
    await begun.said(/Log in with a browser at/)
    begun.interrupt()
    expect(await begun.ended).to.deep.include({ code: 130 })
  })
})
