import { createInterface, type Interface } from 'node:readline'
import { Writable } from 'node:stream'
import { InterruptedError, type Io } from '../command.ts'

/** Reads passwords without echo from a terminal, or as lines of standard input. */
export class Prompt {
  readonly #io: Io
  readonly #lines: Lines

  constructor(io: Io) {
    this.#io = io
    this.#lines = new Lines(io.signal)
  }

  /** Runs `work` with a prompt, and closes standard input afterwards. */
  static async with<T>(io: Io, work: (prompt: Prompt) => Promise<T>): Promise<T> {
    const prompt = new Prompt(io)
    try {
      return await work(prompt)
    } finally {
      prompt.close()
    }
  }

  /** @throws Error if the password is empty, or the prompt was interrupted */
  async password(prompt: string): Promise<string> {
    if (this.#lines.isTerminal) this.#io.err(prompt)
    const line = await this.#lines.next()
    if (this.#lines.isTerminal) this.#io.err('\n')
    if (line === undefined || line === '') throw new Error('the password is empty')
    return line
  }

  /** Prompts for a new password, on a terminal twice. @throws Error */
  async newPassword(prompt: string): Promise<string> {
    const password = await this.password(prompt)
    if (!this.#lines.isTerminal) return password
    const again = await this.password('Repeat the password: ')
    if (again !== password) throw new Error('the passwords do not match; nothing was changed')
    return password
  }

  close(): void {
    this.#lines.close()
  }
}

/** Reads lines of standard input as they arrive, since the writer may leave the pipe open. */
class Lines {
  readonly isTerminal = process.stdin.isTTY === true
  readonly #interface: Interface
  readonly #queue: string[] = []
  readonly #signal: AbortSignal
  #isClosed = false
  #isInterrupted = false
  #wake = () => {}

  constructor(signal: AbortSignal) {
    this.#signal = signal
    this.#interface = createInterface({
      input: process.stdin,
      output: new Writable({ write: (_chunk, _encoding, done) => done() }),
      terminal: this.isTerminal,
      historySize: 0,
    })
    this.#interface.on('line', line => {
      this.#queue.push(line)
      this.#wake()
    })
    this.#interface.on('SIGINT', () => {
      this.#isInterrupted = true
      this.close()
    })
    this.#interface.on('close', () => {
      this.#isClosed = true
      this.#wake()
    })
    signal.addEventListener('abort', () => this.close(), { once: true })
  }

  /** Returns the next line; undefined at the end of the input. */
  async next(): Promise<string | undefined> {
    while (this.#queue.length === 0) {
      if (this.#isInterrupted || this.#signal.aborted) throw new InterruptedError()
      if (this.#isClosed) return undefined
      await new Promise<void>(resolve => {
        this.#wake = resolve
      })
    }
    return this.#queue.shift()
  }

  close(): void {
    this.#interface.close()
  }
}
