import type { Fields } from './fields.ts'
import { integer, seconds } from './fields.ts'

/** How the resource cache keeps kinds beside those that are always followed. */
export type CacheConfig = { readonly idleSeconds: number; readonly maxMegabytes: number }

export const cacheMembers = ['idleSeconds', 'maxMegabytes']

export function parseCache(fields: Fields): CacheConfig {
  return {
    idleSeconds: seconds(fields, 'idleSeconds', { default: 600, min: 5, max: 86_400 }),
    maxMegabytes: integer(fields, 'maxMegabytes', { default: 1_024, min: 16, max: 1_048_576 }),
  }
}
