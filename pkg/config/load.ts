import { readFileSync } from 'node:fs'
import { parseYaml } from '../yaml/read.ts'
import { type Config, parseConfig, type Secrets } from './config.ts'
import { withEnvironment } from './env.ts'
import { ConfigError } from './problem.ts'

/** The sources of a configuration. */
export type ConfigSource = {
  /** YAML or JSON; undefined to use only defaults and the environment. */
  readonly configFile?: string | undefined
  /**
   * Values of the command line, which take precedence, by the name of the corresponding environment
   * variable.
   */
  readonly flags?: Readonly<Record<string, string>>
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Both, parsed; `text` is that of the file. */
export type Loaded = { readonly config: Config; readonly secrets: Secrets; readonly text: string }

/**
 * Reads the file and the environment.
 *
 * @throws ConfigError with all problems
 */
export function loadConfig(source: ConfigSource): Loaded {
  return parseText(readText(source), source)
}

/** @throws ConfigError when the file cannot be read */
export function readText({ configFile }: ConfigSource): string {
  return configFile === undefined ? '' : orProblem(() => readFileSync(configFile, 'utf8'))
}

/** @throws ConfigError with all problems */
export function parseText(text: string, { flags, env }: ConfigSource): Loaded {
  const file: unknown = orProblem(() => parseYaml(text))
  return { ...parseConfig(withEnvironment(file, { ...env, ...flags })), text }
}

function orProblem<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    throw new ConfigError([{ path: '--config', message }])
  }
}
