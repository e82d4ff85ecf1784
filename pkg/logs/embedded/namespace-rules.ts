import { LRUCache } from 'lru-cache'
import { formatJson } from '../field-values.ts'
import { createNamePattern } from '../name-pattern.ts'
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
  const tests = rules.map(rule => ({ rule, isOf: createNamePattern(rule.name) }))
  const known = new LRUCache<string, { readonly rule: Rule | undefined }>({ max: rememberedNames })
  return namespace => {
    const found = known.get(namespace)
    if (found !== undefined) return found.rule
    const rule = tests.find(({ isOf }) => isOf(namespace))?.rule
    known.set(namespace, { rule })
    return rule
  }
}

/** The size of a line for quotas: the bytes of its text, and of its fields as JSON. */
export function quotaBytesOf({ log, fields }: LogRecord): number {
  return Buffer.byteLength(log) + (fields === undefined ? 0 : Buffer.byteLength(formatJson(fields)))
}
