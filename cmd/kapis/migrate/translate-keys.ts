import { isRecord } from '../../../pkg/kubeclient/object/object.ts'
import type { Fields } from './kubesphere-configuration.ts'

/** A note on a key without an exact counterpart. */
export type Note = { readonly path: string; readonly message: string }

/** The translated part of the configuration, and the notes. */
export type Translation = {
  readonly config: Record<string, unknown>
  /** Documents of identity providers; each becomes a Secret. */
  readonly providers: Fields[]
  readonly notes: Note[]
}

export function createTranslation(): Translation {
  return { config: {}, providers: [], notes: [] }
}

/** Sets a field by its path, such as `oauth.clients`. */
export function put({ config }: Translation, path: string, value: unknown): void {
  const names = path.split('.')
  const last = names.pop() ?? path
  let target = config
  for (const name of names) {
    const next = target[name]
    const member: Record<string, unknown> = isRecord(next) ? next : {}
    target[name] = member
    target = member
  }
  target[last] = value
}

export function note({ notes }: Translation, path: string, message: string): void {
  notes.push({ path, message })
}

/** Translates the value of one key, or adds a note. */
export type Rule = (value: unknown, path: string, to: Translation) => void

/** Applies the rule of each key, and adds a note for each unknown key. */
export function translate(
  fields: Fields,
  rules: Readonly<Record<string, Rule>>,
  path: string,
  to: Translation,
): void {
  for (const [key, value] of Object.entries(fields)) {
    const rule = Object.hasOwn(rules, key) ? rules[key] : undefined
    const target = path === '' ? key : `${path}.${key}`
    if (rule === undefined) note(to, target, 'Kapis has no such option')
    else rule(value, target, to)
  }
}

/** Returns the rule for a key that is not migrated. */
export function notMigrated(reason: string): Rule {
  return (_value, path, to) => note(to, path, reason)
}
