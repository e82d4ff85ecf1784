import { StringDecoder } from 'node:string_decoder'

/** A change made to a line before it was stored. */
export type Note =
  // The time was missing, invalid or too far in the future.
  | 'time_of_arrival'
  | 'line_shortened'
  | 'origin_shortened'
  | 'label_omitted'
  | 'label_shortened'
  | 'field_omitted'
  | 'field_shortened'
  // A value was nested too deeply; a placeholder replaces it.
  | 'nested_too_deep'
  // U+FFFD replaces bytes that are not UTF-8, or half of a surrogate pair.
  | 'invalid_unicode'
export type Notes = readonly Note[]

/** Collects the notes of a line, without duplicates. */
export type LineNotes = {
  readonly add: (note: Note) => void
  readonly result: () => { readonly notes?: Notes }
}

/** Creates the notes of a line. @param shared notes on data that lines of a batch share */
export function createNotes(shared: Notes = []): LineNotes {
  const notes = [...shared]
  return {
    add: note => {
      if (!notes.includes(note)) notes.push(note)
    },
    result: () => (notes.length === 0 ? {} : { notes }),
  }
}

/** Truncates a text to a number of UTF-8 bytes. Calls `note` if this removes something. */
export function shorten(text: string, bytes: number, note: () => void): string {
  // A UTF-16 code unit takes at most three bytes.
  if (text.length * 3 <= bytes || Buffer.byteLength(text) <= bytes) return text
  note()
  // The decoder keeps back a character that is cut off.
  return new StringDecoder('utf8').write(Buffer.from(text).subarray(0, bytes))
}
