// Shorter results of V8's slice and + are copies.
const leastShared = 13

/**
 * Copies a text that is part of a longer one, or put together of several: V8 keeps all of those
 * alive, so that a word of a line would hold the whole line, unseen by a limit of memory.
 */
export function ownText(text: string): string {
  // A new text is flattened for slice, which then only shares that one.
  return text.length < leastShared ? text : ` ${text}`.slice(1)
}
