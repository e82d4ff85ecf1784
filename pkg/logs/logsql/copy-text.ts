// Shorter results of V8's slice and + are copies.
const leastShared = 13

/**
 * Copies a text that is a slice of a longer one, or a concatenation: V8 would keep the originals
 * alive, so a word would hold its whole line in memory, which no memory limit counts.
 */
export function ownText(text: string): string {
  // The concatenation is flattened by slice, whose result then only refers to the copy.
  return text.length < leastShared ? text : ` ${text}`.slice(1)
}
