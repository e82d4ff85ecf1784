import { isUtf8 } from 'node:buffer'
import { readFileSync } from 'node:fs'
import { parseYaml, YamlError } from '../yaml/read.ts'
import { type Config, parseConfig, type Secrets } from './config.ts'
import { ConfigError } from './config-error.ts'
import { withEnvironment } from './env.ts'

export type ConfigSource = {
  /** Path of a YAML or JSON file; undefined if there is only the environment. */
  readonly configFile?: string | undefined
  /** Values of command-line flags, by environment variable; they take precedence. */
  readonly flags?: Readonly<Record<string, string>>
  readonly env: Readonly<Record<string, string | undefined>>
}

/** The parsed configuration and secrets; `text` is the content of the file. */
export type LoadedConfig = { readonly config: Config; readonly secrets: Secrets; readonly text: string }

/** Loads file, environment and flags. @throws ConfigError with all problems */
export function loadConfig(source: ConfigSource): LoadedConfig {
  return parseText(readText(source), source)
}

/** @throws ConfigError if the file cannot be read */
export function readText({ configFile }: ConfigSource): string {
  return configFile === undefined ? '' : orProblem(() => toText(readFileSync(configFile)))
}

/** Parses the text of a configuration file. @throws ConfigError with all problems */
export function parseText(text: string, { flags, env }: ConfigSource): LoadedConfig {
  const file: unknown = orProblem(() => parseYaml(text))
  return { ...parseConfig(withEnvironment(file, { ...env, ...flags })), text }
}

function orProblem<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new ConfigError([{ path: '--config', message: problemOf(error) }])
  }
}

/** The file contains secrets, which other messages of the parser quote. */
function problemOf(error: unknown): string {
  if (error instanceof YamlError) return error.problem
  return error instanceof Error ? error.message : String(error)
}

/** @throws Error */
function toText(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new Error('is not valid UTF-8')
  return bytes.toString('utf8')
}
