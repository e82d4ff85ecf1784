import type { Logger } from '../telemetry/logger.ts'
import type { Config, Secrets } from './config.ts'
import { ConfigError } from './config-error.ts'
import { type ConfigSource, type LoadedConfig, loadConfig, parseText, readText } from './load.ts'
import { applyReloadable, differences, reloadablePaths } from './reloadable-config.ts'

/** Whether the last read of the file was valid, and when the last valid read was. */
export type LastRead = { readonly isGood: boolean; readonly goodAtMs: number }

/** The fields of the configuration file that other packages read. */
export type Reloads = {
  /** Returns the configuration with current values of reloadable options. */
  readonly live: () => Config
  readonly lastRead: () => LastRead
}

// The kubelet updates a mounted ConfigMap within about a minute by renaming a symbolic link; file
// system events are not reliable.
const readEveryMs = 10_000

/**
 * The configuration of a running program and its file. A changed file replaces the configuration if
 * it is valid; otherwise the previous configuration stays.
 */
export class ConfigFile implements Reloads {
  readonly #source: ConfigSource
  readonly #everyMs: number
  readonly #started: LoadedConfig
  #live: Config
  /** The last content, so that an error is reported once; undefined if unreadable. */
  #seen: string | undefined
  #last: LastRead = { isGood: true, goodAtMs: Date.now() }
  #logger: Logger | undefined
  #changed: ((live: Config) => void) | undefined
  #timer: NodeJS.Timeout | undefined

  /** Loads the configuration. @throws ConfigError with all problems */
  constructor(source: ConfigSource, everyMs = readEveryMs) {
    this.#source = source
    this.#everyMs = everyMs
    this.#started = loadConfig(source)
    this.#live = this.#started.config
    this.#seen = this.#started.text
  }

  get config(): Config {
    return this.#started.config
  }

  get secrets(): Secrets {
    return this.#started.secrets
  }

  readonly live = (): Config => this.#live
  readonly lastRead = (): LastRead => this.#last

  start(logger: Logger, changed: (live: Config) => void): void {
    this.#logger = logger
    this.#changed = changed
    if (this.#source.configFile === undefined) return
    this.#timer = setInterval(() => this.#look(false), this.#everyMs)
    this.#timer.unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** Reads the file, and reports the result even if the file is unchanged. */
  readonly read = (): void => this.#look(true)

  #look(isAsked: boolean): void {
    let seen: string | undefined
    try {
      const text = readText(this.#source)
      seen = text
      if (text !== this.#seen || isAsked) this.#take(parseText(text, this.#source))
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      this.#last = { ...this.#last, isGood: false }
      const { problems } = error
      if (seen !== this.#seen || isAsked)
        this.#logger?.error({ problems }, 'invalid configuration; the previous one stays in use')
    }
    this.#seen = seen
  }

  #take(next: LoadedConfig): void {
    const live = applyReloadable(this.#started.config, next.config)
    const changed = differences(this.#live, live)
    const isReloaded = reloadablePaths()
    const needRestart = [
      ...differences(this.#started.config, next.config).filter(path => !isReloaded.has(path)),
      ...secretDifferences(this.#started.secrets, next.secrets),
    ]
    this.#live = live
    this.#last = { isGood: true, goodAtMs: Date.now() }
    this.#logger?.info(
      { followed: changed, needRestart: [...new Set(needRestart)] },
      'reloaded the configuration',
    )
    if (changed.length > 0) this.#changed?.(live)
  }
}

/** Returns the paths of changed options, without their values. */
function secretDifferences(before: Secrets, after: Secrets): readonly string[] {
  const clients = differences(
    Object.fromEntries(before.clientSecrets),
    Object.fromEntries(after.clientSecrets),
  )
  const store = differences(before.logStore, after.logStore)
  return [...(clients.length > 0 ? ['oauth.clients'] : []), ...store.map(name => `logs.opensearch.${name}`)]
}
