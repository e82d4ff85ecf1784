import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { type Config, ConfigError, parseConfig, type Secrets } from './config.ts'
import { withEnvironment } from './env.ts'

/** Where a configuration comes from. */
export type ConfigSource = {
  /** YAML or JSON; undefined for defaults and the environment alone. */
  readonly configFile?: string | undefined
  /** Of the command line, which wins over everything. */
  readonly logLevel?: string | undefined
}

/**
 * Reads the file and the environment.
 *
 * @throws ConfigError with every problem at once
 */
export function loadConfig(
  { configFile, logLevel }: ConfigSource,
  env: Readonly<Record<string, string | undefined>>,
): { config: Config; secrets: Secrets } {
  const settings = logLevel === undefined ? env : { ...env, KAPIS_LOG_LEVEL: logLevel }
  return parseConfig(withEnvironment(readFile(configFile), settings))
}

function readFile(path: string | undefined): unknown {
  if (path === undefined) return {}
  try {
    return parse(readFileSync(path, 'utf8'))
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    throw new ConfigError([{ path: '--config', message }])
  }
}
