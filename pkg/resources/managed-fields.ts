import { type Form, platformForm } from './body.ts'
import type { Entry } from './entry.ts'

/** The platform form with metadata.managedFields, for `?managedFields=true`: spliced in, since hardly anyone asks. */
export const managedFieldsForm: Form = {
  ...platformForm,
  name: 'platform with managedFields',
  toHead(entry: Entry) {
    const head = entry.platformHead()
    if (entry.managedFields === undefined) return head
    // The head ends with metadata's closing brace.
    return Buffer.concat([
      head.subarray(0, -1),
      Buffer.from(',"managedFields":'),
      entry.managedFields,
      Buffer.from('}'),
    ])
  },
}
