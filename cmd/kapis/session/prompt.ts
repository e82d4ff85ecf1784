import { createInterface, type Interface } from 'node:readline'
import { Writable } from 'node:stream'
import { InterruptedError, type Io } from '../command.ts'

/** Reads passwords without echo from a terminal, or as lines of standard input. */
export class Prompt {
  readonly #io: Io
  readonly #isTerminal = process.stdin.isTTY === true
  readonly #interface: Interface
  readonly #lines: AsyncIterator<string>
  #isInterrupted = false

  constructor(io: Io) {
    this.#io = io
    this.#interface = createInterface({
      input: process.stdin,
      output: new Writable({ write: (_chunk, _encoding, done) => done() }),
      terminal: this.#isTerminal,
      historySize: 0,
    })
    // Iterates from now on, so that no line is lost. The writer of a pipe may leave it open.
    this.#lines = this.#interface[Symbol.asyncIterator]()
    this.#interface.on('SIGINT', () => {
      this.#isInterrupted = true
      this.close()
    })
    io.signal.addEventListener('abort', () => this.close(), { once: true })
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
    if (this.#isTerminal) this.#io.err(prompt)
    const { value: line } = await this.#lines.next()
    if (this.#isInterrupted || this.#io.signal.aborted) throw new InterruptedError()
    if (this.#isTerminal) this.#io.err('\n')
    if (line === undefined || line === '') throw new Error('the password is empty')
    return line
  }

  /** Prompts for a new password, on a terminal twice. @throws Error */
  async newPassword(prompt: string): Promise<string> {
    const password = await this.password(prompt)
    if (!this.#isTerminal) return password
    const again = await this.password('Repeat the password: ')
    if (again !== password) throw new Error('the passwords do not match; nothing was changed')
    return password
  }

  close(): void {
    this.#interface.close()
  }
}
