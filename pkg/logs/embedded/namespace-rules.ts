import { LRUCache } from 'lru-cache'
import { formatJson } from '../fields.ts'
import type { LogRecord } from '../record.ts'

/** Retention and quota of namespaces. */
export type NamespaceRule = {
  /** With `*` for any characters. */
  readonly name: string
  /** Number of days (UTC) to keep, including today; those of the store if it is left out. */
  readonly retentionDays?: number
  /** Bytes that are stored in a day (UTC); without one there is no limit. */
  readonly quotaBytes?: number
}

const rememberedNames = 10_000

/** Finds the first rule whose name matches. */
export function createRuleFinder<Rule extends { readonly name: string }>(
  rules: readonly Rule[],
): (namespace: string) => Rule | undefined {
  const patterns = rules.map(rule => ({ rule, pattern: toPattern(rule.name) }))
  const known = new LRUCache<string, { readonly rule: Rule | undefined }>({ max: rememberedNames })
  return namespace => {
    const found = known.get(namespace)
    if (found !== undefined) return found.rule
    const rule = patterns.find(({ pattern }) => pattern.test(namespace))?.rule
    known.set(namespace, { rule })
    return rule
  }
}

function toPattern(name: string): RegExp {
  const parts = name.split('*').map(part => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`, 's')
}

/** What a line counts for in a quota: the bytes of its text, and of its fields as JSON. */
export function quotaBytesOf({ log, fields }: LogRecord): number {
  return Buffer.byteLength(log) + (fields === undefined ? 0 : Buffer.byteLength(formatJson(fields)))
}
