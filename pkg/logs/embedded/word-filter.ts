import { release } from '../own-memory.ts'
import { hashBytes } from './vocabulary.ts'

/**
 * Which words there may be, in eight bits for each: of those that there are not it takes one in thirty for one that there is.
 * A split block Bloom filter (Putze, Sanders and Singler, "Cache-, Hash- and Space-Efficient Bloom Filters", 2007, as Apache
 * Parquet has it): a word has one bit in each of the eight numbers of one block.
 *
 * It is read in pages of one size, the last of which may be less full: what one lets go of is then room for another.
 */
export type WordFilter = { readonly blocks: number; readonly pages: readonly Uint32Array[] }

export type WordFilterWriter = {
  /** The word from `from` up to `to`. */
  readonly add: (source: Uint8Array, from: number, to: number) => void
  /** The filter as it is read again: numbers with the lowest byte first. */
  readonly view: () => Buffer
  readonly release: () => void
}

const wordsOfBlock = 32
const numbersOfBlock = 8
const pageBlocks = 512
export const pageBytes = pageBlocks * numbersOfBlock * Uint32Array.BYTES_PER_ELEMENT
const bitSalt = 0x9e3779b1

// Odd numbers, those of Parquet: what is multiplied by each has other upper bits.
const salts = [
  0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31,
] as const

/** @param words how many will be added */
export function createWordFilter(words: number): WordFilterWriter {
  const blocks = Math.max(Math.ceil(words / wordsOfBlock), 1)
  const filter = new Uint32Array(blocks * numbersOfBlock)
  return {
    add: (source, from, to) => {
      const hash = hashWord(source, from, to)
      const first = blockOf(blocks, hash) * numbersOfBlock
      const bits = mix(hash ^ bitSalt)
      for (let i = 0; i < numbersOfBlock; i += 1)
        filter[first + i] = (filter[first + i] ?? 0) | bitOf(bits, salts[i] ?? 0)
    },
    view: () => Buffer.from(filter.buffer),
    release: () => release(filter),
  }
}

/** A number of 32 bits for a word, which `mayHave` wants. */
export function hashWord(source: Uint8Array, from = 0, to = source.length): number {
  return mix(hashBytes(source, from, to))
}

/** Whether a word of this hash may have been added; surely not, where it says so. */
export function mayHave(filter: WordFilter, hash: number): boolean {
  const block = blockOf(filter.blocks, hash)
  const page = filter.pages[Math.floor(block / pageBlocks)]
  if (page === undefined) throw new RangeError(`there is no page of block ${block}`)
  const first = (block % pageBlocks) * numbersOfBlock
  const bits = mix(hash ^ bitSalt)
  for (let i = 0; i < numbersOfBlock; i += 1)
    if (((page[first + i] ?? 0) & bitOf(bits, salts[i] ?? 0)) === 0) return false
  return true
}

/** The one in which its bits are. */
function blockOf(blocks: number, hash: number): number {
  return Math.floor(((hash >>> 0) / 2 ** 32) * blocks)
}

/** @param pages as they were taken, each of a page's size */
export function openWordFilter(bytes: number, pages: readonly Buffer[]): WordFilter {
  const blocks = bytes / numbersOfBlock / Uint32Array.BYTES_PER_ELEMENT
  const count = Math.ceil(blocks / pageBlocks)
  if (!Number.isInteger(blocks) || blocks === 0 || count !== pages.length)
    throw new RangeError(`a filter of words has no ${bytes} bytes in ${pages.length} pages`)
  return { blocks, pages: pages.map(toNumbers) }
}

function toNumbers({ buffer, byteOffset, length }: Buffer): Uint32Array {
  return new Uint32Array(buffer, byteOffset, length / Uint32Array.BYTES_PER_ELEMENT)
}

function bitOf(bits: number, salt: number): number {
  return 1 << (Math.imul(bits, salt) >>> 27)
}

/** All bits of a number depend on all of another: the end of MurmurHash3, which is one to one. */
function mix(value: number): number {
  let hash = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return hash ^ (hash >>> 16)
}
