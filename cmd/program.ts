import packageJson from '../package.json' with { type: 'json' }
import type { Config, Secrets } from '../pkg/config/config.ts'
import { ConfigError } from '../pkg/config/config-error.ts'
import { ConfigFile, type Reloads } from '../pkg/config/config-file.ts'
import { FlagError, readFlags } from '../pkg/config/flags.ts'
import { trustSystemCertificates } from '../pkg/http/ca-certificates.ts'
import { createLogger, type Logger } from '../pkg/telemetry/logger.ts'

export type ProgramContext = {
  readonly config: Config
  readonly secrets: Secrets
  readonly reloads: Reloads
  readonly logger: Logger
  readonly version: string
}

/** Runs one of the two programs: flags, configuration, signals, exit codes. Never returns. */
export async function runProgram(
  about: { readonly name: string; readonly summary: string; readonly listens: boolean },
  run: (started: ProgramContext, signal: AbortSignal) => Promise<void>,
): Promise<never> {
  const stop = new AbortController()
  process.on('SIGTERM', () => stop.abort())
  process.on('SIGINT', () => stop.abort())
  const { name } = about
  const { version } = packageJson
  try {
    const call = readFlags(process.argv.slice(2), { ...about, version })
    if (call.print !== undefined) {
      process.stdout.write(call.print)
      process.exit(0)
    }
    const file = new ConfigFile({ ...call, env: process.env })
    const { config, secrets } = file
    const logger = createLogger({ program: name, level: config.logLevel })
    file.start(logger, ({ logLevel }) => {
      logger.level = logLevel
    })
    process.on('SIGHUP', file.read)
    trustSystemCertificates()
    await run({ config, secrets, reloads: file, logger, version }, stop.signal)
    file.stop()
    process.exit(0)
  } catch (error) {
    if (error instanceof FlagError) {
      console.error(`${name}: ${error.message}\n\`${name} --help\` shows its usage`)
      process.exit(2)
    }
    console.error(error instanceof ConfigError ? error.message : error)
    process.exit(1)
  }
}
