import packageJson from '../../package.json' with { type: 'json' }
import { commands } from './commands.ts'
import { dispatch } from './dispatch.ts'

/** Runs the command line in this process. @returns the exit code */
export function run(args: readonly string[]): Promise<number> {
  const stop = new AbortController()
  const [name = ''] = args
  const endsItself = Object.hasOwn(commands, name) && commands[name]?.endsItself === true
  // A second signal ends the process immediately.
  if (endsItself)
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort(signal))
  // Users cannot act on a warning about an experimental feature of a library.
  process.removeAllListeners('warning').on('warning', ({ name: kind, message }) => {
    if (kind !== 'ExperimentalWarning') process.stderr.write(`${kind}: ${message}\n`)
  })
  // The reader of a pipe may close it early, as `head` does.
  process.stdout.on('error', () => process.exit(0))
  return dispatch(args, {
    out: text => void process.stdout.write(text),
    err: text => void process.stderr.write(text),
    env: process.env,
    signal: stop.signal,
    version: packageJson.version,
  })
}
