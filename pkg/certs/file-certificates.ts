import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Logger } from '../telemetry/logger.ts'
import type { CertificateSource, ServingMaterial } from './serving-certificates.ts'

type Files = { readonly certFile: string; readonly keyFile: string; readonly caFile: string }

// The kubelet updates a mounted Secret within about a minute; file system events of such files are
// not reliable.
const readEveryMs = 10_000

/**
 * Serves a certificate from files that another tool renews. The files are read periodically. Files
 * that do not match are ignored.
 */
export class FileCertificates implements CertificateSource {
  readonly #files: Files
  readonly #logger: Logger
  readonly #everyMs: number
  readonly #listeners = new Set<() => void>()
  #current: ServingMaterial | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(options: { readonly files: Files; readonly logger: Logger; readonly everyMs?: number }) {
    this.#files = options.files
    this.#logger = options.logger
    this.#everyMs = options.everyMs ?? readEveryMs
  }

  async start(): Promise<void> {
    this.#current = await readMaterial(this.#files)
    this.#timer = setInterval(() => void this.#refresh(), this.#everyMs)
    this.#timer.unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  current(): ServingMaterial {
    if (this.#current === undefined) throw new Error('the serving certificate has not been loaded yet')
    return this.#current
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener)
  }

  async #refresh(): Promise<void> {
    try {
      const next = await readMaterial(this.#files)
      if (JSON.stringify(next) === JSON.stringify(this.#current)) return
      this.#current = next
      this.#logger.info({ file: this.#files.certFile }, 'reloaded the serving certificate')
      for (const listener of this.#listeners) listener()
    } catch (err) {
      // During a replacement, certificate and key may not match.
      this.#logger.warn(
        { err, file: this.#files.certFile },
        'failed to read the serving certificate; the previous one stays in use',
      )
    }
  }
}

/** @throws Error if a file is missing or invalid, or the private key does not match */
async function readMaterial({ certFile, keyFile, caFile }: Files): Promise<ServingMaterial> {
  const [certPem = '', keyPem = '', bundlePem = ''] = await Promise.all(
    [certFile, keyFile, caFile].map(file => readFile(file, 'utf8')),
  )
  if (!new X509Certificate(certPem).checkPrivateKey(createPrivateKey(keyPem)))
    throw new Error(`the private key ${keyFile} does not match ${certFile}`)
  if (!bundlePem.includes('-----BEGIN CERTIFICATE-----')) throw new Error(`${caFile} contains no certificate`)
  return { certPem, keyPem, bundlePem }
}
