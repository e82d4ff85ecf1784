import type { IngestLimits } from '../limits.ts'
import { bytesOf, shortenValue } from './field-value.ts'
import { type FlatFields, firstOf, put } from './flatten.ts'
import type { LineNotes } from './line-notes.ts'
import { fileNames, isLabelName, isOriginName, meanings } from './origin-names.ts'

/** Adds shared data to a line. The line's own origin and labels take precedence. */
function putShared(flat: FlatFields, shared: FlatFields): void {
  for (const [name, value] of shared)
    if (!flat.has(name) || !(meanings.has(name) || isLabelName(name))) put(flat, name, value)
}

/** Data that a sender sends once for several lines, and that is stored with each of them. */
export type SharedFields = {
  readonly flat: FlatFields
  readonly addTo: (flat: FlatFields, notes: LineNotes) => void
}

/**
 * Returns a function that prepares shared data of the lines of a batch. Beyond `limits.sharedBytes`
 * for the whole batch, lines only get their origin: otherwise a few megabytes could become
 * gigabytes.
 */
export function createSharing(limits: IngestLimits): (flat: FlatFields, ofAll: LineNotes) => SharedFields {
  let left = limits.sharedBytes
  return (fields, ofAll) => {
    const { flat, origin, bytes } = limitShared(fields, limits, ofAll)
    const { notes = [] } = ofAll.result()
    return {
      flat,
      addTo(to, own) {
        for (const note of notes) own.add(note)
        left -= bytes
        if (left < 0) own.add('field_omitted')
        putShared(to, left < 0 ? origin : flat)
      },
    }
  }
}

/** Limits shared data to what a line may have. @returns data, size, part with the origin */
export function limitShared(fields: FlatFields, limits: IngestLimits, notes: LineNotes) {
  const [flat, origin]: [FlatFields, FlatFields] = [new Map(), new Map()]
  const limitsByUse = { origin: meanings.size + fileNames.length, label: limits.labels, field: limits.fields }
  let bytes = 0
  for (const [name, value] of fields) {
    const kind = kindOf(name)
    const left = limits.fieldsBytes - bytes - Buffer.byteLength(name)
    if (left <= 0 || limitsByUse[kind] === 0) {
      notes.add(kind === 'label' ? 'label_omitted' : 'field_omitted')
      continue
    }
    limitsByUse[kind] -= 1
    const kept = shortenValue(value, Math.min(left, limits.fieldValueBytes), () =>
      notes.add('field_shortened'),
    )
    bytes += Buffer.byteLength(name) + bytesOf(kept)
    flat.set(name, typeof kept === 'object' ? [...kept] : kept)
    if (kind === 'origin') origin.set(name, firstOf(kept) ?? '')
  }
  return { flat, origin, bytes }
}

function kindOf(name: string): 'origin' | 'label' | 'field' {
  if (isOriginName(name)) return 'origin'
  return isLabelName(name) ? 'label' : 'field'
}
