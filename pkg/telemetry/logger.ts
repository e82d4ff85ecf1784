import { type DestinationStream, type Logger, pino } from 'pino'

export type { Logger }

export const logLevels = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof logLevels)[number]

// Safeguard in addition to the rule that credentials are never logged: these keys are redacted.
const secretKeys = [
  'password',
  'token',
  'access_token',
  'refresh_token',
  'id_token',
  'client_secret',
  'secret',
  'authorization',
  'cookie',
]

/**
 * Creates a logger of JSON lines with RFC 3339 times and level names, to `destination` or stderr.
 * Errors belong in the field `err`.
 */
export function createLogger(options: {
  program: string
  level: LogLevel
  destination?: DestinationStream
}): Logger {
  const settings = {
    level: options.level,
    base: { program: options.program },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: secretKeys.flatMap(key => [key, `*.${key}`]), censor: '[redacted]' },
  }
  return options.destination
    ? pino(settings, options.destination)
    : pino(settings, pino.destination({ fd: 2, sync: true }))
}
