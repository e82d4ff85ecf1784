/** The changes made to a line before it was stored. */
export type Note =
  // Its time is missing, invalid or too far in the future.
  | 'time_of_arrival'
  | 'line_shortened'
  | 'origin_shortened'
  | 'label_omitted'
  | 'label_shortened'
  | 'field_omitted'
  | 'field_shortened'
  // A value is nested too deeply; a placeholder text replaces it.
  | 'nested_too_deep'
export type Notes = readonly Note[]

/** The notes of a line without duplicates. */
export type LineNotes = {
  readonly add: (note: Note) => void
  readonly result: () => { readonly notes?: Notes }
}

/** @param shared notes of data that the lines of a batch share */
export function createNotes(shared: Notes = []): LineNotes {
  const notes = [...shared]
  return {
    add: note => {
      if (!notes.includes(note)) notes.push(note)
    },
    result: () => (notes.length === 0 ? {} : { notes }),
  }
}

/** Truncates a text to a number of UTF-8 bytes; `note` is called if that removes something. */
export function shorten(text: string, bytes: number, note: () => void): string {
  // A UTF-16 code unit takes at most three bytes.
  if (text.length * 3 <= bytes || Buffer.byteLength(text) <= bytes) return text
  note()
  const cut = Buffer.from(text).subarray(0, bytes)
  // Not within a character: continuation bytes of UTF-8 are 10xxxxxx.
  let end = cut.length
  const next = Buffer.from(text)[end] ?? 0
  if ((next & 0xc0) === 0x80) {
    do end -= 1
    while (((cut[end] ?? 0) & 0xc0) === 0x80)
  }
  return cut.toString('utf8', 0, end)
}
