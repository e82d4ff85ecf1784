/** The I/O and environment of a command; tests replace them to see the output. */
export type Io = {
  readonly out: (text: string) => void
  readonly err: (text: string) => void
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
  readonly version: string
}

/** A command of `kapis`: one file, named after it. */
export type Command = {
  /** The help text after the name: synopsis, description, and one line per option. */
  readonly usage: string
  /** Example commands, each with a comment. */
  readonly examples: string
  /** Shell completion: the words that may follow the given ones; undefined completes file names. */
  readonly complete?: (words: readonly string[], io: Io) => readonly string[] | undefined
  /** For shell completion: the values of options that take one of a few. */
  readonly values?: Readonly<Record<string, (io: Io) => readonly string[]>>
  /**
   * @returns the exit code
   * @throws UsageError for wrong usage, any other Error for a failure
   */
  readonly run: (args: readonly string[], io: Io) => Promise<number>
}

/** Ended by the user before it was done: exit code 130, or 143 after SIGTERM. */
export class InterruptedError extends Error {
  constructor() {
    super('interrupted')
    this.name = 'InterruptedError'
  }
}

/** Called wrongly: exit code 2, with a hint at --help. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UsageError'
  }
}
