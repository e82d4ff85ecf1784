import type { IngestLimits } from '../limits.ts'
import { bytesOf, shortenValue } from './field-value.ts'
import { type Flat, firstOf, put } from './flatten.ts'
import type { LineNotes } from './line-notes.ts'
import { fileNames, isLabelName, isOriginName, meanings } from './origin-names.ts'

/** Adds shared data to a line. The line's own origin and labels take precedence. */
function putShared(flat: Flat, shared: Flat): void {
  for (const [name, value] of shared)
    if (!flat.has(name) || !(meanings.has(name) || isLabelName(name))) put(flat, name, value)
}

/** Data that a sender sends once for several lines, and that is stored with each of them. */
export type Shared = {
  readonly flat: Flat
  readonly addTo: (flat: Flat, notes: LineNotes) => void
}

/**
 * Returns a function that prepares shared data of the lines of a batch. Beyond `limits.sharedBytes`
 * for the whole batch, lines only get their origin: otherwise a few megabytes could become
 * gigabytes.
 */
export function createSharing(limits: IngestLimits): (flat: Flat, ofAll: LineNotes) => Shared {
  let left = limits.sharedBytes
  return (given, ofAll) => {
    const { flat, origin, bytes } = limitShared(given, limits, ofAll)
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
export function limitShared(given: Flat, limits: IngestLimits, notes: LineNotes) {
  const [flat, origin]: [Flat, Flat] = [new Map(), new Map()]
  const places = { origin: meanings.size + fileNames.length, label: limits.labels, field: limits.fields }
  let bytes = 0
  for (const [name, value] of given) {
    const kind = kindOf(name)
    const left = limits.fieldsBytes - bytes - Buffer.byteLength(name)
    if (left <= 0 || places[kind] === 0) {
      notes.add(kind === 'label' ? 'label_omitted' : 'field_omitted')
      continue
    }
    places[kind] -= 1
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
