import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { createLogger } from '../telemetry/logger.ts'
import { FileCertificates } from './file-certificates.ts'
import { createCa, issueCertificate, type KeyPair } from './issue.ts'

const logger = createLogger({
  program: 'test',
  level: 'error',
  destination: new Writable({ write: (_chunk, _encoding, done) => done() }),
})
const ca = createCa({ commonName: 'given', validityDays: 2 })
const pair = () => issueCertificate(ca, { commonName: 'x', usages: ['server'], validityDays: 1 })

describe('FileCertificates', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kapis-files-'))
  const files = {
    certFile: join(folder, 'tls.crt'),
    keyFile: join(folder, 'tls.key'),
    caFile: join(folder, 'ca.crt'),
  }
  const put = ({ certPem, keyPem }: KeyPair) => {
    writeFileSync(files.certFile, certPem)
    writeFileSync(files.keyFile, keyPem)
    writeFileSync(files.caFile, ca.certPem)
  }
  let certificates: FileCertificates

  beforeEach(() => {
    certificates = new FileCertificates({ files, logger, everyMs: 10 })
  })
  afterEach(() => certificates.stop())
  after(() => rmSync(folder, { recursive: true }))

  it('serves the pair in the files, and follows changes', async () => {
    const [first, second] = [pair(), pair()]
    put(first)
    await certificates.start()
    expect(certificates.current()).to.deep.equal({ ...first, bundlePem: ca.certPem })
    const changed = new Promise<void>(resolve => certificates.onChange(resolve))
    put(second)
    await changed
    expect(certificates.current()).to.deep.equal({ ...second, bundlePem: ca.certPem })
  })

  it('serves the last pair while the files do not match', async () => {
    const first = pair()
    put(first)
    await certificates.start()
    writeFileSync(files.certFile, pair().certPem)
    await sleep(50)
    writeFileSync(files.caFile, '')
    await sleep(50)
    expect(certificates.current()).to.deep.equal({ ...first, bundlePem: ca.certPem })
  })

  it('does not start with unusable files', async () => {
    put({ ...pair(), keyPem: pair().keyPem })
    const why = async () =>
      certificates.start().then(
        () => '',
        (error: Error) => error.message,
      )
    expect(await why()).to.equal(`the private key ${files.keyFile} does not match ${files.certFile}`)
    put(pair())
    writeFileSync(files.caFile, 'none')
    expect(await why()).to.equal(`${files.caFile} contains no certificate`)
    rmSync(files.caFile)
    expect(await why()).to.include('ENOENT')
  })
})
