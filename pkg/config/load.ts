import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { type Config, ConfigError, parseConfig, type Secrets } from './config.ts'
import { withEnvironment } from './env.ts'

/**
 * Reads `--config FILE` (YAML or JSON; optional) and the environment.
 *
 * @throws ConfigError with every problem at once
 */
export function loadConfig(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): { config: Config; secrets: Secrets } {
  return parseConfig(withEnvironment(readFile(parseArguments(argv)), env))
}

function parseArguments(argv: readonly string[]): string | undefined {
  if (argv.length === 0) return undefined
  const [flag = '', value] = argv[0]?.startsWith('--config=') ? ['--config', argv[0].slice(9)] : argv
  if (flag === '--config' && value) return value
  throw new ConfigError([{ path: flag, message: 'unknown argument; the only one is --config FILE' }])
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
