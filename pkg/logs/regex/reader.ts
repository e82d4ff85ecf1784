/** Says what is wrong at an offset of the source; must throw. */
export type Report = (message: string, offset: number) => never

/** The source of a regular expression, read character by character. */
export type Reader = {
  readonly at: number
  readonly peek: (ahead?: number) => string | undefined
  readonly next: () => string | undefined
  /** Passes over the character when it is the one that comes. */
  readonly take: (expected: string) => boolean
  /** Passes over what the pattern finds right here. */
  readonly find: (pattern: RegExp) => RegExpExecArray | undefined
  /** @param index of the character that is wrong; the one that comes, when left out */
  readonly fail: (message: string, index?: number) => never
}

export function createReader(source: string, report: Report): Reader {
  const characters = [...source]
  let at = 0
  const offsetOf = (index: number) => characters.slice(0, index).join('').length
  return {
    get at() {
      return at
    },
    peek: (ahead = 0) => characters[at + ahead],
    next: () => characters[at++],
    take: expected => {
      if (characters[at] !== expected) return false
      at += 1
      return true
    },
    find: pattern => {
      // What is looked for in one piece is short, and ASCII.
      const found = pattern.exec(characters.slice(at, at + 14).join(''))
      if (found === null || found.index !== 0) return undefined
      at += found[0].length
      return found
    },
    fail: (message, index = at) => report(message, offsetOf(index)),
  }
}
