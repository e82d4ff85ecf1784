import { LRUCache } from 'lru-cache'
import { formatJson } from '../field-values.ts'
import { createNamePattern } from '../name-pattern.ts'
import type { LogRecord } from '../record.ts'

/** Retention and quota of the namespaces whose name matches. */
export type NamespaceRule = {
  /** Pattern of names; `*` matches any characters. */
  readonly name: string
  /** Number of days (UTC) to keep, including today. Defaults to the retention of the store. */
  readonly retentionDays?: number
  /** Maximum number of bytes to store per namespace and day (UTC). Unlimited by default. */
  readonly quotaBytes?: number
}

const rememberedNames = 10_000

/** Returns a function that finds the first rule that matches a namespace. */
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

/** Returns the size of a line for quotas: bytes of its text, and of its fields as JSON. */
export function quotaBytesOf({ log, fields }: LogRecord): number {
  return Buffer.byteLength(log) + (fields === undefined ? 0 : Buffer.byteLength(formatJson(fields)))
}
