import type { CachedObject } from '../store/cached-object.ts'
import { type Form, platformForm } from './list-body.ts'

const member = Buffer.from(',"managedFields":')
const brace = Buffer.from('}')

/** The projection with metadata.managedFields, inserted for `?managedFields=true`. */
export const managedFieldsForm: Form = {
  name: 'platform with managedFields',
  toParts(entry: CachedObject) {
    if (entry.managedFields === undefined) return platformForm.toParts(entry)
    // Removes the closing brace of metadata, with which the head ends.
    return [entry.platformHead().subarray(0, -1), member, entry.managedFields, brace, entry.tail]
  },
}
