import { release } from '../own-memory.ts'

/** The distinct words of a segment, numbered in the order of their first appearance. */
export type Vocabulary = {
  readonly size: number
  /** The number of the word in the first `length` bytes of `word`. `hash` must be that of `hashByte` over them. */
  readonly idOf: (word: Uint8Array, length: number, hash: number) => number
  /** Where a word lies in `bytes`. */
  readonly start: (id: number) => number
  readonly end: (id: number) => number
  readonly bytes: () => Buffer
  /** The numbers, in the order of the words' bytes; the caller's own. */
  readonly sorted: () => Uint32Array
  /** Forgets all words, and keeps the memory for others. */
  readonly clear: () => void
}

export const hashSeed = 0x811c9dc5 | 0

/** FNV-1a, one byte at a time. */
export function hashByte(hash: number, byte: number): number {
  return Math.imul(hash ^ byte, 0x01000193)
}

/** The same of the bytes from `from` up to `to`. */
export function hashBytes(source: Uint8Array, from: number, to: number): number {
  let hash = hashSeed
  for (let i = from; i < to; i += 1) hash = hashByte(hash, source[i] ?? 0)
  return hash
}

export function createVocabulary(): Vocabulary {
  // Each slot is an id, or -1, and the hash of its word side by side: a miss of the processor's cache costs more than all else.
  let slots = new Int32Array(1 << 16).fill(-1)
  let mask = slots.length / 2 - 1
  let starts = new Uint32Array((1 << 14) + 1)
  let arena = Buffer.allocUnsafeSlow(1 << 17)
  let size = 0

  function growTable(): void {
    const larger = new Int32Array(slots.length * 2).fill(-1)
    mask = larger.length / 2 - 1
    for (let at = 0; at < slots.length; at += 2) {
      const hash = slots[at + 1] ?? 0
      if (slots[at] === -1) continue
      let slot = slotOf(hash, mask)
      while (larger[2 * slot] !== -1) slot = (slot + 1) & mask
      larger[2 * slot] = slots[at] ?? 0
      larger[2 * slot + 1] = hash
    }
    slots = larger
    const wider = new Uint32Array(larger.length / 4 + 1)
    wider.set(starts)
    starts = wider
  }

  function isSame(id: number, word: Uint8Array, length: number): boolean {
    const start = starts[id] ?? 0
    if ((starts[id + 1] ?? 0) - start !== length) return false
    for (let i = 0; i < length; i += 1) if (arena[start + i] !== word[i]) return false
    return true
  }

  function add(word: Uint8Array, length: number, hash: number, slot: number): number {
    const start = starts[size] ?? 0
    if (start + length > arena.length) {
      const larger = Buffer.allocUnsafeSlow(arena.length * 2)
      arena.copy(larger)
      arena = larger
    }
    for (let i = 0; i < length; i += 1) arena[start + i] = word[i] ?? 0
    const id = size
    size += 1
    slots[2 * slot] = id
    slots[2 * slot + 1] = hash
    starts[size] = start + length
    if (size * 4 >= slots.length) growTable()
    return id
  }

  return {
    get size() {
      return size
    },
    start: id => starts[id] ?? 0,
    end: id => starts[id + 1] ?? 0,
    bytes: () => arena,
    idOf: (word, length, hash) => {
      let slot = slotOf(hash, mask)
      for (let id = slots[2 * slot] ?? -1; id !== -1; id = slots[2 * slot] ?? -1) {
        if (slots[2 * slot + 1] === hash && isSame(id, word, length)) return id
        slot = (slot + 1) & mask
      }
      return add(word, length, hash, slot)
    },
    sorted: () => sortWords(arena, starts, size),
    clear: () => {
      slots.fill(-1)
      size = 0
    },
  }
}

/** FNV leaves the low bits alike for words that differ in their last byte alone. */
export function slotOf(hash: number, mask: number): number {
  return (hash ^ (hash >>> 15)) & mask
}

/**
 * A number holds the first bytes of a word and its id, and sorting numbers needs no comparison in JavaScript; only words
 * that begin alike are compared.
 */
function sortWords(arena: Buffer, starts: Uint32Array, size: number): Uint32Array {
  const idSpan = 2 ** Math.max(Math.ceil(Math.log2(size)), 1)
  const prefixBytes = Math.floor((53 - Math.log2(idSpan)) / 8)
  const keys = new Float64Array(size)
  for (let id = 0; id < size; id += 1) {
    const start = starts[id] ?? 0
    const end = starts[id + 1] ?? 0
    let prefix = 0
    for (let i = 0; i < prefixBytes; i += 1)
      prefix = prefix * 256 + (start + i < end ? (arena[start + i] ?? 0) : 0)
    keys[id] = prefix * idSpan + id
  }
  keys.sort()
  // No `from`: what it makes of each number is garbage.
  const ids = new Uint32Array(size)
  for (let i = 0; i < size; i += 1) ids[i] = (keys[i] ?? 0) % idSpan
  const compare = (a: number, b: number): number => {
    const lengthA = (starts[a + 1] ?? 0) - (starts[a] ?? 0)
    const lengthB = (starts[b + 1] ?? 0) - (starts[b] ?? 0)
    const shorter = Math.min(lengthA, lengthB)
    for (let i = prefixBytes; i < shorter; i += 1) {
      const difference = (arena[(starts[a] ?? 0) + i] ?? 0) - (arena[(starts[b] ?? 0) + i] ?? 0)
      if (difference !== 0) return difference
    }
    return lengthA - lengthB
  }
  for (let from = 0; from < size; ) {
    const prefix = Math.floor((keys[from] ?? 0) / idSpan)
    let to = from + 1
    while (to < size && Math.floor((keys[to] ?? 0) / idSpan) === prefix) to += 1
    if (to - from > fewWords) ids.subarray(from, to).sort(compare)
    else insertInOrder(ids, from, to, compare)
    from = to
  }
  release(keys)
  return ids
}

// A view of each few that begin alike, and what sorts them, would be most of the garbage.
const fewWords = 16

function insertInOrder(
  ids: Uint32Array,
  from: number,
  to: number,
  compare: (a: number, b: number) => number,
): void {
  for (let i = from + 1; i < to; i += 1) {
    const id = ids[i] ?? 0
    let at = i
    for (; at > from && compare(ids[at - 1] ?? 0, id) > 0; at -= 1) ids[at] = ids[at - 1] ?? 0
    ids[at] = id
  }
}
