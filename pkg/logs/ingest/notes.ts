/** What was changed of a line to store it. */
export type Note =
  // It has no time that can be read and is not too far ahead.
  | 'time_of_arrival'
  | 'line_shortened'
  | 'origin_shortened'
  | 'label_omitted'
  | 'label_shortened'
  | 'field_omitted'
  | 'field_shortened'
  // A value is nested deeper than can be read; a text says so in its place.
  | 'nested_too_deep'
export type Notes = readonly Note[]

/** The notes of one line, each once. */
export type LineNotes = {
  readonly add: (note: Note) => void
  readonly result: () => { readonly notes?: Notes }
}

/** @param shared what was changed of all lines that were sent with this one */
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
  // A UTF-16 code unit takes three bytes at most.
  if (text.length * 3 <= bytes || Buffer.byteLength(text) <= bytes) return text
  note()
  const cut = Buffer.from(text).subarray(0, bytes)
  // Not within a character: what follows it in UTF-8 is 10xxxxxx.
  let end = cut.length
  const next = Buffer.from(text)[end] ?? 0
  if ((next & 0xc0) === 0x80) {
    do end -= 1
    while (((cut[end] ?? 0) & 0xc0) === 0x80)
  }
  return cut.toString('utf8', 0, end)
}
