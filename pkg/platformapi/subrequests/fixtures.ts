import type { OwnerTools } from './owners.ts'

/** A stub for lists without `seniority`. */
export const unusedOwners: OwnerTools = {
  async collect() {
    throw new Error('no list of owners is expected')
  },
  async findByKind() {
    return undefined
  },
}
