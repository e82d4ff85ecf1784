#!/usr/bin/env node
import { availableParallelism } from 'node:os'
import packageJson from '../../package.json' with { type: 'json' }
import { ConfigError } from '../../pkg/config/config.ts'
import { loadConfig } from '../../pkg/config/load.ts'
import { runOAuth } from '../../pkg/oauth/run.ts'
import { createLogger } from '../../pkg/telemetry/logger.ts'

// Password hashes take a thread for each core. Signing and file access share the pool, and must not wait behind them.
// The pool is made when it is first used, which is later than this.
process.env.UV_THREADPOOL_SIZE ??= String(availableParallelism() + 4)

const stop = new AbortController()
process.on('SIGTERM', () => stop.abort())
process.on('SIGINT', () => stop.abort())

try {
  const { config, secrets } = loadConfig(process.argv.slice(2), process.env)
  const logger = createLogger({ program: 'kapis-oauth', level: config.logLevel })
  await runOAuth({ config, secrets, logger, version: packageJson.version }, stop.signal)
  process.exit(0)
} catch (error) {
  console.error(error instanceof ConfigError ? error.message : error)
  process.exit(1)
}
