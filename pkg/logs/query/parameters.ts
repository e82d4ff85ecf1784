import { badRequest } from '../../apierrors/status.ts'
import type { QueryParameters } from '../../apirequest/query/query-parameters.ts'

/**
 * The query parameters of a request. Each method throws Status 400 with the parameter's name. An
 * empty parameter counts as missing.
 */
export type Parameters = {
  readonly text: (name: string) => string
  /** Parses a comma-separated list. Ignores empty items; undefined if there are no others. */
  readonly list: (name: string) => readonly string[] | undefined
  readonly boolean: (name: string, fallback: boolean) => boolean
  readonly choice: <T extends string>(name: string, allowed: readonly [T, ...T[]]) => T
  readonly integer: (name: string, rule: { readonly fallback: number; readonly max?: number }) => number
  /** Parses a Unix time in whole seconds. */
  readonly seconds: (name: string) => number | undefined
}

const maxListed = 20_000

/** Sends a warning to the client. */
export type Warn = (text: string) => void

const maxNames = 3

/**
 * Reads the parameters of a log query. Unknown ones are ignored with a warning, because consoles of
 * KubeSphere 3.4 send some.
 *
 * @throws Status 400 for a repeated parameter
 */
export function readParameters(query: QueryParameters, known: readonly string[], warn: Warn): Parameters {
  query.rejectAmbiguous()
  const unknown = [...query].map(([name]) => name).filter(name => !known.includes(name))
  if (unknown.length > 0) {
    const named = unknown.slice(0, maxNames).map(name => JSON.stringify(name.slice(0, 32)))
    const more = unknown.length > maxNames ? ` and ${unknown.length - maxNames} more` : ''
    const s = unknown.length > 1 ? 's' : ''
    warn(`ignored unknown parameter${s} ${named.join(', ')}${more}; supported: ${known.join(', ')}`)
  }
  const text = (name: string) => query.get(name) ?? ''
  const refuse = (name: string, allowed: string) =>
    badRequest(`${name} must be ${allowed}, not ${JSON.stringify(text(name).slice(0, 100))}`)

  return {
    text,
    list(name) {
      const members = text(name)
        .split(',')
        .map(member => member.trim())
        .filter(member => member !== '')
      if (members.length > maxListed) throw badRequest(`${name} has more than ${maxListed} values`)
      return members.length > 0 ? members : undefined
    },
    boolean(name, fallback) {
      const value = text(name)
      if (value !== '' && value !== 'true' && value !== 'false') throw refuse(name, 'true or false')
      return value === '' ? fallback : value === 'true'
    },
    choice(name, allowed) {
      const value = text(name)
      const found = value === '' ? allowed[0] : allowed.find(option => option === value)
      if (found === undefined) throw refuse(name, `one of ${allowed.join(', ')}`)
      return found
    },
    integer(name, { fallback, max }) {
      const parameter = text(name)
      if (parameter === '') return fallback
      const value = /^\d+$/.test(parameter) ? Number(parameter) : Number.NaN
      if (!(value <= (max ?? Infinity)))
        throw refuse(name, max === undefined ? 'a whole number' : `a whole number from 0 to ${max}`)
      return value
    },
    seconds(name) {
      const value = text(name)
      if (value === '') return undefined
      if (/^\d{11,}$/.test(value)) {
        throw refuse(name, 'a Unix timestamp in whole seconds (milliseconds and finer are not accepted)')
      }
      if (!/^\d{1,10}$/.test(value)) throw refuse(name, 'a whole number of seconds since 1970')
      return Number(value)
    },
  }
}
