#!/usr/bin/env node
import packageJson from '../../package.json' with { type: 'json' }
import { runApiserver } from '../../pkg/apiserver/run.ts'
import { ConfigError } from '../../pkg/config/config.ts'
import { loadConfig } from '../../pkg/config/load.ts'
import { createLogger } from '../../pkg/telemetry/logger.ts'

const stop = new AbortController()
process.on('SIGTERM', () => stop.abort())
process.on('SIGINT', () => stop.abort())

try {
  const { config, secrets } = loadConfig(process.argv.slice(2), process.env)
  const logger = createLogger({ program: 'kapis-apiserver', level: config.logLevel })
  const build = { version: packageJson.version, commit: process.env.KAPIS_COMMIT ?? '' }
  await runApiserver({ config, secrets, logger, build }, stop.signal)
  process.exit(0)
} catch (error) {
  console.error(error instanceof ConfigError ? error.message : error)
  process.exit(1)
}
