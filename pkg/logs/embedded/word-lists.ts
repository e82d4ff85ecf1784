/** Words of a line have positions up to this many. */
export const maxPositions = 1024

/** Which lines hold which word: those of word `id` are documents[starts[id]] up to documents[starts[id + 1]]. */
export type LineLists = { readonly starts: Uint32Array; readonly documents: Uint32Array }

/**
 * Where in its lines a word is, too. Its positions in them are positions[placeStarts[id]] up to positions[placeStarts[id + 1]]: each twice what it lies behind
 * the one before in the same line (behind 0 for the first), plus one when the same line has another.
 */
export type WordLists = LineLists & {
  readonly placeStarts: Uint32Array
  readonly positions: Uint16Array
}

export type WordsOfLines = {
  /** The words of all documents, one document after the other; of each up to its end. */
  readonly found: Uint32Array
  readonly documentEnds: Uint32Array
  /**
   * For each word three numbers, of which the second is how many documents have it, the third how often it is there. The
   * first is for whoever makes lists.
   */
  readonly seen: Uint32Array
  /** How many words there are. */
  readonly size: number
  /** Those that say something of a line and are nowhere in it. */
  readonly longWord: number
  readonly manyWords: number
}

/** Notes where the entries of each word begin, of which there are seen[3 * id + column]. */
function putStarts(starts: Uint32Array, seen: Uint32Array, size: number, column: 1 | 2): void {
  starts[0] = 0
  for (let id = 0; id < size; id += 1) starts[id + 1] = (starts[id] ?? 0) + (seen[3 * id + column] ?? 0)
}

/** Less than half a millisecond. */
const turn = 256

// As many as lines have that are put into a segment at once, and some more.
const keptEntries = 1 << 22
const keptWords = 1 << 19

/** Of each word: where its entries begin, where the next one goes, and the position before that in the same line. */
type Columns = {
  readonly starts: Uint32Array
  readonly placeStarts: Uint32Array
  readonly next: Uint32Array
  readonly nextPlace: Uint32Array
  readonly before: Uint16Array
}

function columnsOf(size: number): Columns {
  const column = (): Uint32Array => new Uint32Array(size + 1)
  const columns = { starts: column(), placeStarts: column(), next: column(), nextPlace: column() }
  return { ...columns, before: new Uint16Array(size + 1) }
}

/**
 * From the words of each line to the lines of each word; it yields now and then. In memory that is used again: the lists hold until
 * the next are made.
 */
export function createListGatherer(): (words: WordsOfLines) => Generator<void, WordLists> {
  let kept = { documents: new Uint32Array(0), positions: new Uint16Array(0) }
  let keptColumns = columnsOf(0)

  function take(entries: number, places: number): typeof kept {
    if (entries <= kept.documents.length && places <= kept.positions.length) return kept
    const taken = { documents: new Uint32Array(entries), positions: new Uint16Array(places) }
    if (places <= keptEntries) kept = taken
    return taken
  }

  function takeColumns(size: number): Columns {
    if (size < keptColumns.starts.length) return keptColumns
    const taken = columnsOf(size + (size >>> 1))
    if (size <= keptWords) keptColumns = taken
    return taken
  }

  return function* ({ found, documentEnds, seen, size, longWord, manyWords }) {
    const { starts, placeStarts, next, nextPlace, before } = takeColumns(size)
    putStarts(starts, seen, size, 1)
    putStarts(placeStarts, seen, size, 2)
    next.set(starts)
    nextPlace.set(placeStarts)
    const { documents, positions } = take(starts[size] ?? 0, placeStarts[size] ?? 0)

    function put(id: number, document: number, position: number): void {
      // Of what goes through here, any array or object of two would be most of a thread's garbage.
      const entry = next[id] ?? 0
      const place = nextPlace[id] ?? 0
      const again = entry > (starts[id] ?? 0) && documents[entry - 1] === document
      if (again) positions[place - 1] = (positions[place - 1] ?? 0) | 1
      else {
        documents[entry] = document
        next[id] = entry + 1
      }
      positions[place] = 2 * (again ? position - (before[id] ?? 0) : position)
      before[id] = position
      nextPlace[id] = place + 1
    }

    let at = 0
    for (let document = 0; document < documentEnds.length; document += 1) {
      if (document % turn === turn - 1) yield
      let position = 0
      for (const end = documentEnds[document] ?? 0; at < end; at += 1) {
        const id = found[at] ?? 0
        put(id, document, position)
        // What lies beyond is looked at line by line, whatever is kept of it here.
        if (id !== longWord && id !== manyWords && position < maxPositions) position += 1
      }
    }
    return {
      starts: starts.subarray(0, size + 1),
      placeStarts: placeStarts.subarray(0, size + 1),
      documents: documents.subarray(0, starts[size] ?? 0),
      positions: positions.subarray(0, placeStarts[size] ?? 0),
    }
  }
}

/**
 * Notes for each word where its next line goes: in the end that is where the lines of the word after it begin.
 *
 * @returns how many entries there are
 */
function beginLists(starts: Uint32Array, seen: Uint32Array, size: number): number {
  let total = 0
  starts[0] = 0
  for (let id = 0; id < size; id += 1) {
    starts[id + 1] = total
    total += seen[3 * id + 1] ?? 0
    seen[3 * id] = 0
  }
  return total
}

/** As createListGatherer, without positions. */
export function createListMaker(): (words: WordsOfLines) => Generator<void, LineLists> {
  let starts = new Uint32Array(0)
  let documents = new Uint32Array(0)
  return function* ({ found, documentEnds, seen, size }) {
    if (starts.length <= size) starts = new Uint32Array(2 * size + 1)
    const total = beginLists(starts, seen, size)
    if (documents.length < total) documents = new Uint32Array(total + (total >>> 1))
    let at = 0
    for (let document = 0; document < documentEnds.length; document += 1) {
      if (document % turn === turn - 1) yield
      for (const end = documentEnds[document] ?? 0; at < end; at += 1) {
        const id = found[at] ?? 0
        if (seen[3 * id] === document + 1) continue
        seen[3 * id] = document + 1
        const entry = starts[id + 1] ?? 0
        documents[entry] = document
        starts[id + 1] = entry + 1
      }
    }
    return { starts: starts.subarray(0, size + 1), documents: documents.subarray(0, total) }
  }
}
