import { type CharacterKind, contains, createAlphabet, finalBreak, textEnd } from './alphabet.ts'
import type { Program } from './program.ts'
import type { Assertion } from './syntax.ts'

/** A set of the program's steps before its branches are followed, and what stood before. */
type State = { readonly steps: readonly number[]; readonly before: Before; readonly next: (State | null)[] }
type Before = CharacterKind['role'] | 'start'

// Beyond this the states are forgotten and made again as they are met, so that memory is bounded too.
const maxStates = 1000

/**
 * Whether a program finds something in a text, in time linear in the text: a deterministic automaton whose states are made
 * when they are first reached.
 */
export function createSearch(program: Program, caseSensitive: boolean): (text: string) => boolean {
  const { begin, advance, kindOf } = createMachine(program, caseSensitive)
  return text => {
    let state = begin()
    for (let i = 0; i < text.length; i += 1) {
      const code = text.codePointAt(i) ?? 0
      const kind = code === 10 && i === text.length - 1 ? finalBreak : kindOf(code)
      const next = advance(state, kind)
      if (next === null) return true
      state = next
      if (code > 0xffff) i += 1
    }
    return advance(state, textEnd) === null
  }
}

/**
 * As createSearch, in UTF-8 from `start` up to `end`. It makes nothing: of many short texts the strings would be garbage, whose
 * collection takes as long as the search.
 */
export function createByteSearch(
  program: Program,
  caseSensitive: boolean,
): (bytes: Uint8Array, start: number, end: number) => boolean {
  const { begin, advance, kindOf } = createMachine(program, caseSensitive)
  return (bytes, start, end) => {
    let state = begin()
    for (let at = start; at < end; ) {
      const first = bytes[at] ?? 0
      const code = first < 0x80 ? first : codePointAt(bytes, at)
      const kind = first === 10 && at === end - 1 ? finalBreak : kindOf(code)
      const next = advance(state, kind)
      if (next === null) return true
      state = next
      at += lengthOf(first)
    }
    return advance(state, textEnd) === null
  }
}

/** How many bytes a character has that begins with this one. */
function lengthOf(first: number): number {
  if (first < 0x80) return 1
  if (first < 0xe0) return 2
  return first < 0xf0 ? 3 : 4
}

function codePointAt(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0
  const more = lengthOf(first) - 1
  let code = first & (0x3f >>> more)
  for (let i = 1; i <= more; i += 1) code = (code << 6) | ((bytes[at + i] ?? 0) & 0x3f)
  return code
}

type Machine = {
  readonly begin: () => State
  /** Null when something is found. */
  readonly advance: (state: State, kind: number) => State | null
  readonly kindOf: (codePoint: number) => number
}

function createMachine(program: Program, caseSensitive: boolean): Machine {
  const { kinds, kindOf } = createAlphabet(program.sets, caseSensitive)
  let states = new Map<string, State>()
  let first: State | undefined

  function toState(steps: readonly number[], before: Before): State {
    const key = `${before} ${steps.join(' ')}`
    const known = states.get(key)
    if (known !== undefined) return known
    if (states.size >= maxStates) {
      states = new Map()
      first = undefined
    }
    const state: State = { steps, before, next: [] }
    states.set(key, state)
    return state
  }

  function advance(state: State, kind: number): State | null {
    const known = state.next[kind]
    if (known !== undefined) return known
    const character = kinds[kind] ?? noCharacter
    const after = follow(program, state, character, kind === finalBreak || kind === textEnd)
    const next = after === null ? null : toState(after, character.role)
    state.next[kind] = next
    return next
  }

  return {
    begin: () => {
      first ??= toState([program.start], 'start')
      return first
    },
    advance,
    kindOf,
  }
}

const noCharacter: CharacterKind = { sample: -1, role: 'none' }

/**
 * The steps that are next once this character was read; null when something is found before it. It makes no object by spreading
 * another: V8 lets go of the hidden class of such a one as soon as none is left, and of all compiled code that this is part of.
 */
function follow(
  program: Program,
  state: State,
  character: CharacterKind,
  ends: boolean,
): readonly number[] | null {
  const reached = new Set<number>()
  const pending = [...state.steps]
  // A search may begin anywhere.
  const after = new Set([program.start])
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    if (reached.has(at)) continue
    reached.add(at)
    const step = program.steps[at]
    if (step === undefined || step.kind === 'found') return null
    if (step.kind === 'split') pending.push(...step.next)
    else if (step.kind === 'assert') {
      if (holds(step.at, state.before, character.role, ends)) pending.push(step.next)
    } else if (passes(program, step.set, character)) after.add(step.next)
  }
  return [...after].sort((a, b) => a - b)
}

function passes({ sets }: Program, index: number, { sample }: CharacterKind): boolean {
  const set = sets[index]
  return sample >= 0 && set !== undefined && contains(set, sample)
}

function holds(at: Assertion, before: Before, role: CharacterKind['role'], ends: boolean): boolean {
  if (at === 'start') return before === 'start'
  if (at === 'end') return ends
  const joined = before === 'part' && role === 'part'
  const boundary = !joined && (before === 'part' || before === 'whole' || role !== 'none')
  return boundary === (at === 'boundary')
}
