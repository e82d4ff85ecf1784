#!/usr/bin/env node
import { ConfigError } from '../../pkg/config/config.ts'
import { loadConfig } from '../../pkg/config/load.ts'
import { runOAuth } from '../../pkg/oauth/run.ts'
import { createLogger } from '../../pkg/telemetry/logger.ts'

const stop = new AbortController()
process.on('SIGTERM', () => stop.abort())
process.on('SIGINT', () => stop.abort())

try {
  const { config, secrets } = loadConfig(process.argv.slice(2), process.env)
  const logger = createLogger({ program: 'kapis-oauth', level: config.logLevel })
  await runOAuth({ config, secrets, logger }, stop.signal)
  process.exit(0)
} catch (error) {
  console.error(error instanceof ConfigError ? error.message : error)
  process.exit(1)
}
