import { createWriteStream, type WriteStream } from 'node:fs'
import { readdir, rename, stat, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { makeFolders } from '../files/make-folders.ts'
import type { Logger } from '../telemetry/logger.ts'

export type SinkOptions = {
  /** Path of a file, or '-' for standard output. */
  readonly path: string
  readonly maxBytes: number
  readonly maxBackups: number
  readonly bufferEvents: number
  readonly logger: Logger
  /** Called with the number of events that were dropped. */
  readonly lost: (count: number) => void
}

const retryMs = 1_000
// Maximum length of buffered events in characters. Events with bodies can have half a megabyte, so
// their number alone does not limit memory.
const maxWaitingLength = 64 * 1024 * 1024

/**
 * The audit log: JSON lines, written in batches. Requests do not wait for the disk. Events are
 * buffered up to a limit; beyond the limit they are dropped and counted. A file that reaches
 * `maxBytes` is renamed with a timestamp; the newest `maxBackups` files are kept.
 */
export class AuditSink {
  readonly #options: SinkOptions
  #waiting: string[] = []
  #waitingLength = 0
  #writing: Promise<void> | undefined
  #file: WriteStream | undefined
  #size = 0
  #isClosed = false

  constructor(options: SinkOptions) {
    this.#options = options
  }

  /** Opens the file. @throws Error without access, as the audit log is required */
  async start(): Promise<void> {
    if (this.#options.path !== '-') await this.#open()
  }

  get isFull(): boolean {
    return this.#waiting.length >= this.#options.bufferEvents || this.#waitingLength >= maxWaitingLength
  }

  /** @param event JSON text on one line */
  write(event: string): void {
    if (this.isFull || this.#isClosed) {
      this.#options.lost(1)
      return
    }
    this.#waiting.push(`${event}\n`)
    this.#waitingLength += event.length
    this.#writing ??= this.#drain().finally(() => {
      this.#writing = undefined
    })
  }

  /** Writes the buffered events; drops later ones. */
  async stop(): Promise<void> {
    this.#isClosed = true
    await this.#writing
    const file = this.#file
    if (file !== undefined) await new Promise<void>(resolve => file.end(() => resolve()))
  }

  async #drain(): Promise<void> {
    // Collects the events of one event-loop turn in one batch.
    await new Promise(setImmediate)
    while (this.#waiting.length > 0) {
      const batch = this.#waiting
      this.#waiting = []
      this.#waitingLength = 0
      const bytes = Buffer.from(batch.join(''))
      try {
        await this.#append(bytes)
      } catch (err) {
        this.#options.logger.error({ err, path: this.#options.path }, 'failed to write the audit log')
        if (this.#isClosed) {
          this.#options.lost(batch.length)
          return
        }
        // Retried before newer events, to keep the order. Events beyond the limit are dropped.
        this.#waiting = [...batch, ...this.#waiting]
        const over = this.#waiting.length - this.#options.bufferEvents
        if (over > 0) {
          this.#waiting.length = this.#options.bufferEvents
          this.#options.lost(over)
        }
        this.#waitingLength = this.#waiting.reduce((sum, { length }) => sum + length, 0)
        await new Promise(resolve => setTimeout(resolve, retryMs))
        await this.#reopen()
      }
    }
  }

  async #append(bytes: Buffer): Promise<void> {
    if (this.#options.path === '-') return writeTo(process.stdout, bytes)
    if (this.#size > 0 && this.#size + bytes.length > this.#options.maxBytes) await this.#rotate()
    const file = this.#file
    if (file === undefined) throw new Error('the file is not open')
    await writeTo(file, bytes)
    this.#size += bytes.length
  }

  async #open(): Promise<void> {
    const { path } = this.#options
    makeFolders(dirname(path))
    // Readable by the owner only: the file contains names and addresses of users.
    const file = createWriteStream(path, { flags: 'a', mode: 0o600 })
    await new Promise<void>((resolve, reject) => {
      file.once('open', () => resolve())
      file.once('error', reject)
    })
    file.on('error', () => undefined)
    this.#file = file
    this.#size = (await stat(path)).size
  }

  async #reopen(): Promise<void> {
    this.#file?.destroy()
    this.#file = undefined
    await this.#open().catch(() => undefined)
  }

  async #rotate(): Promise<void> {
    const { path, maxBackups } = this.#options
    const old = this.#file
    if (old !== undefined) await new Promise<void>(resolve => old.end(() => resolve()))
    await rename(path, `${path}.${new Date().toISOString().replaceAll(':', '-')}`)
    await this.#open()
    const kept = (await readdir(dirname(path))).filter(name => name.startsWith(`${basename(path)}.`)).sort()
    for (const name of kept.slice(0, Math.max(0, kept.length - maxBackups)))
      await unlink(join(dirname(path), name)).catch(() => undefined)
  }
}

function writeTo(stream: NodeJS.WritableStream, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(bytes, error => (error ? reject(error) : resolve()))
  })
}
