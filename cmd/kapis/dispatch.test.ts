import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { commands } from './commands.ts'
import { dispatch } from './dispatch.ts'

describe('dispatch', () => {
  it('prints its version', async () => {
    for (const word of ['version', '--version']) {
      expect(await kapis(word)).to.deep.equal({ code: 0, out: 'kapis 1.2.3\n', err: '' })
    }
  })

  it('lists every command with a description', async () => {
    for (const words of [[], ['help'], ['--help']]) {
      const { code, out } = await kapis(...words)
      expect(code).to.equal(0)
      for (const name of Object.keys(commands)) expect(out).to.match(new RegExp(`^  ${name} `, 'm'))
    }
    for (const name of Object.keys(commands)) {
      const asked = await kapis('help', name)
      expect(asked).to.deep.include({ code: 0, err: '' })
      expect(asked.out).to.match(
        new RegExp(`^usage: kapis ${name} [^]*\\nExamples:\\n(.*\\bkapis ${name}.*\\n)`),
      )
      expect(await kapis(name, '--help')).to.deep.equal(asked)
    }
  })

  it('exits with 2 and prints the usage after an invalid command line', async () => {
    const unknown = 'kapis: unknown command "frobnicate"; run `kapis help` for a list\n'
    const cases: readonly [readonly string[], string][] = [
      [['frobnicate'], unknown],
      [['help', 'frobnicate'], unknown],
      [['constructor'], 'kapis: unknown command "constructor"; run `kapis help` for a list\n'],
      [['probe'], 'kapis probe: missing --socket FILE\nRun `kapis help probe` for its usage.\n'],
      [
        ['manifests', '--overlay', 'none'],
        'kapis manifests: unknown --overlay "none"; supported: default, ha, kubesphere, monitoring, opensearch\nRun `kapis help manifests` for its usage.\n',
      ],
    ]
    for (const [words, err] of cases) expect(await kapis(...words)).to.deep.equal({ code: 2, out: '', err })
    for (const name of Object.keys(commands)) {
      const { code, err } = await kapis(name, '--frobnicate')
      expect(code).to.equal(2)
      const allowed =
        /^kapis [\w-]+: unknown option --frobnicate; supported: (--[a-z-]+, )*--help\nRun `kapis help [\w-]+` for its usage\.\n$/
      expect(err).to.match(allowed)
    }
    expect((await kapis('probe', '-x')).err).to.equal(
      'kapis probe: unknown option -x; supported: --socket, --timeout, --help\nRun `kapis help probe` for its usage.\n',
    )
  })
})

describe('options that were renamed to those of kubectl', () => {
  // The commands end with exit code 2 before they send a request.
  for (const [words, former, option, error] of [
    [
      ['login', '--server', 'https://127.0.0.1:1', '--ca=/none'],
      '--ca',
      '--certificate-authority',
      'invalid --certificate-authority /none',
    ],
    [
      ['token', 'create', 'x', '--expires-in', 'soon'],
      '--expires-in',
      '--duration',
      'invalid --duration "soon"',
    ],
    [['token', 'create', 'x', '--duration', '1h30'], '', '', 'invalid --duration "1h30"'],
    [
      ['access', 'request', 'x', '--reason', 'y', '--for', '1d'],
      '--for',
      '--duration',
      'invalid --duration "1d": expected 1s to 12h',
    ],
    [['can-i', 'get', '--group', 'a'], '--group', '--as-group', 'expected VERB RESOURCE'],
    [['migrate', '--write', 'x'], '--write', '--dry-run=none', 'expected config FILE'],
    [['migrate', 'users', '--dry-run=server'], '', '', 'invalid --dry-run "server"; supported: client, none'],
    [
      ['sessions', 'list', '-A', '-n', 'a'],
      '',
      '',
      '--namespace and --all-namespaces are mutually exclusive',
    ],
    [['logout', '--', '--ca'], '', '', "Unexpected argument '--ca'"],
  ] as const) {
    it(`kapis ${words.join(' ')}`, async () => {
      const { code, out, err } = await kapis(...words)
      const warning = former === '' ? '' : `Warning: ${former} is deprecated, use ${option}\n`
      expect([code, out]).to.deep.equal([2, ''])
      expect(err.startsWith(`${warning}kapis ${words[0]}: ${error}`), err).to.equal(true)
    })
  }
})

describe('kapis probe', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kapis-probe-'))
  const socket = join(folder, 's')
  const server = createServer((req, res) => {
    if (req.url === '/silent') return
    res.writeHead(req.url === '/livez' ? 200 : 503).end('secret')
  })
  before(done => void server.listen(socket, done))
  after(() => {
    server.closeAllConnections()
    server.close()
    rmSync(folder, { recursive: true })
  })

  it('succeeds with status 200 only', async () => {
    expect(await kapis('probe', '--socket', socket)).to.deep.equal({ code: 0, out: '', err: '' })
    const cases: readonly [readonly string[], string][] = [
      [['/healthz'], `/healthz on ${socket}: 503\n`],
      [['--timeout', '50', '/silent'], `/silent on ${socket}: timed out after 50 ms\n`],
    ]
    for (const [words, err] of cases) {
      expect(await kapis('probe', '--socket', socket, ...words)).to.deep.equal({ code: 1, out: '', err })
    }
    const missing = await kapis('probe', '--socket', join(folder, 'none'))
    expect(missing.code).to.equal(1)
    expect(missing.err).to.include('ENOENT')
  })
})

async function kapis(...argv: readonly string[]) {
  const out: string[] = []
  const err: string[] = []
  const io = {
    out: (text: string) => void out.push(text),
    err: (text: string) => void err.push(text),
    env: {},
    signal: new AbortController().signal,
    version: '1.2.3',
  }
  return { code: await dispatch(argv, io), out: out.join(''), err: err.join('') }
}
