// V8 copies results of slice and + that are shorter than this.
const leastShared = 13

/**
 * Copies a string that may be a slice or a concatenation. V8 would keep the original strings in
 * memory: a word would retain its whole line, which no memory budget counts.
 */
export function copyText(text: string): string {
  // slice first flattens the concatenation to a new string, and its result refers only to that.
  return text.length < leastShared ? text : ` ${text}`.slice(1)
}
