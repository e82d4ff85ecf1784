/** The input, output and environment of a command; tests replace them. */
export type Io = {
  readonly out: (text: string) => void
  readonly err: (text: string) => void
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
  readonly version: string
}

/** A command of `kapis`, in the file of the same name. */
export type Command = {
  /** The help text after the name of the command: synopsis, description, one line per option. */
  readonly usage: string
  /** Example command lines, each with a comment. */
  readonly examples: string
  /** Returns the completions that may follow the given words; undefined completes file names. */
  readonly complete?: (words: readonly string[], io: Io) => readonly string[] | undefined
  /** Returns the values for shell completion of options that only take certain values. */
  readonly values?: Readonly<Record<string, (io: Io) => readonly string[]>>
  /** @returns the exit code @throws UsageError for invalid usage, any other Error for a failure */
  readonly run: (args: readonly string[], io: Io) => Promise<number>
}

/** The user has interrupted the command: exit code 130, or 143 after SIGTERM. */
export class InterruptedError extends Error {
  constructor() {
    super('interrupted')
    this.name = 'InterruptedError'
  }
}

/** Invalid usage: exit code 2, with a reference to --help. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UsageError'
  }
}
