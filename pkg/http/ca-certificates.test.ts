import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { portOf } from '../apirequest/fixtures.ts'
import { createCa, issueCertificate } from '../certs/issue.ts'

const execute = promisify(execFile)
const ca = createCa({ commonName: 'test', validityDays: 1 })
const serving = issueCertificate(ca, {
  commonName: 'server',
  dnsNames: ['localhost'],
  usages: ['server'],
  validityDays: 1,
})
const refused = /SELF_SIGNED|UNABLE_TO/

describe('the default CAs of connections', function () {
  this.timeout(60_000)
  let folder: string
  let server: Server
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'kapis-trust-'))
    for (const name of ['none', 'other']) mkdirSync(join(folder, name))
    mkdirSync(join(folder, 'cas', 'nested'), { recursive: true })
    writeFileSync(join(folder, 'cas', 'ca.crt'), `# the CA\n${ca.certPem}`)
    writeFileSync(join(folder, 'cas', 'broken.pem'), ca.certPem.replaceAll('MII', 'AAA'))
    writeFileSync(join(folder, 'other', 'text'), 'no certificate')
    server = createServer({ cert: serving.certPem, key: serving.keyPem }, (_req, res) => res.end('ok'))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  after(() => {
    server.close()
    rmSync(folder, { recursive: true })
  })

  /** Runs a request in a program whose TLS library reads the variables. */
  async function send(program: string, env: Readonly<Record<string, string>>): Promise<string> {
    const source = (name: string) => JSON.stringify(join(import.meta.dirname, name))
    const started = `
      import { get } from 'node:https'
      import { trustSystemCertificates, withDefaultCertificates } from ${source('ca-certificates.ts')}
      import { HttpClient } from ${source('client.ts')}
      import { runProgram } from ${source('../../cmd/program.ts')}
      const url = 'https://localhost:${portOf(server)}/'
      const ask = (options = {}) => new Promise(resolve =>
        get(url, options, res => resolve(res.resume().statusCode)).on('error', ({ code }) => resolve(code)))
      ${program}`
    const { stdout, stderr } = await execute(
      process.execPath,
      ['--input-type=module', '-e', started],
      // Without the system folder, which contains many certificates.
      { env: { PATH: process.env.PATH, SSL_CERT_DIR: join(folder, 'none'), ...env } },
    )
    expect(stderr).to.equal('')
    return stdout.trim()
  }

  const path = (names: readonly string[]) => names.map(name => name && join(folder, name)).join(delimiter)
  const withFile = () => ({ SSL_CERT_FILE: path(['cas/ca.crt']) })

  it('are those of the system, of folders in a list too, and of NODE_EXTRA_CA_CERTS', async () => {
    const trusting = 'trustSystemCertificates(); console.log(await ask())'
    const cases: readonly [Readonly<Record<string, string>>, RegExp][] = [
      [{ SSL_CERT_DIR: path(['none', 'other']) }, refused],
      [withFile(), /^200$/],
      [{ NODE_EXTRA_CA_CERTS: path(['cas/ca.crt']) }, /^200$/],
      [{ SSL_CERT_DIR: path(['missing', 'other', '', 'cas']) }, /^200$/],
      [{ SSL_CERT_DIR: path(['other', 'none']), ...withFile() }, /^200$/],
    ]
    for (const [env, expected] of cases)
      expect(await send(trusting, env), JSON.stringify(env)).to.match(expected)
  })

  const programs: readonly [string, string][] = [
    [
      'of a connection with additional CAs',
      'trustSystemCertificates(); console.log(await ask({ ca: withDefaultCertificates("") }))',
    ],
    [
      'of the HTTP client of kapis',
      `const client = new HttpClient({ ca: '', env: {} })
      console.log(await client.send(new URL(url)).then(({ status }) => status, ({ code }) => code))`,
    ],
    [
      'of the servers',
      "await runProgram({ name: 'x', summary: '', listens: false }, async () => console.log(await ask()))",
    ],
  ]
  for (const [what, program] of programs)
    it(`include those of the system: ${what}`, async () => {
      expect(await send(program, {})).to.match(refused)
      expect(await send(program, withFile())).to.equal('200')
    })
})
