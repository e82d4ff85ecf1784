/** What a subcommand may use of the world, so that tests can look at what it wrote. */
export type Io = {
  readonly out: (text: string) => void
  readonly err: (text: string) => void
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
}

/** A subcommand of `kapis`: one file, named for it. */
export type Command = {
  /** Everything after the name: synopsis, then what each option does. */
  readonly usage: string
  /** @returns the exit code. @throws UsageError when it was called wrongly, any other Error when it failed */
  readonly run: (args: readonly string[], io: Io) => Promise<number>
}

/** Called wrongly: told with a pointer to --help, and exit code 2. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UsageError'
  }
}
