import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect } from 'chai'
import fc from 'fast-check'
import { firstIn, nextIn, skipString, skipValue, valueAfter } from '../../pkg/json/scan.ts'
import { jsonTexts, trickyNumbers, trickyTexts } from '../../pkg/yaml/fixtures.ts'
import { jsonToYaml, toYaml } from '../../pkg/yaml/write.ts'
import { buildGo, goBuildTimeoutMs, hasGo } from '../e2e/go-program.ts'
import { output, scratch } from '../e2e/run.ts'

/** A JSON value with the source text of its numbers, which JSON.parse would round. */
type ExactValue =
  | string
  | boolean
  | null
  | { readonly number: string }
  | ExactValue[]
  | Map<string, ExactValue>

const documents = [
  ...fc.sample(jsonTexts, { numRuns: 3_000, seed: 5 }),
  `[${trickyNumbers.join()}]`,
  JSON.stringify(trickyTexts.map(text => ({ [text]: [text, { text }] }))),
  JSON.stringify({ ['k'.repeat(2_000)]: { a: ['no', { ['x'.repeat(3_000)]: 'a\nb' }] } }),
  `${'{"no":['.repeat(60)}{"${'k'.repeat(2_000)}":"no"}${']}'.repeat(60)}`,
]

describe('YAML that Kapis writes', () => {
  it('is parsed to the same value by kubectl', async () => {
    const annotations = Object.fromEntries(trickyTexts.map((text, i) => [`a${i}`, text.toWellFormed()]))
    const data = Object.fromEntries(trickyTexts.map((text, i) => [`${i}`, text.toWellFormed()]))
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c', annotations }, data }
    const args = ['label', '--local', '-o', 'json', '-f', '-', 'x=y']
    const read = JSON.parse(await output('kubectl', args, { stdin: toYaml(object) }))
    expect(read).to.deep.equal({ ...object, metadata: { ...object.metadata, labels: { x: 'y' } } })
  })

  it('is parsed to the same value by sigs.k8s.io/yaml and go-yaml', async function () {
    this.timeout(goBuildTimeoutMs)
    if (!(await hasGo('the YAML readers'))) this.skip()
    const program = join(scratch, 'yaml-readers')
    await buildGo('the YAML readers', ['build', '-o', program, '.'], join(import.meta.dirname, '..', 'yaml'))
    const responses = await readAll(program, [])
    for (const [i, response] of responses.entries()) {
      const { error, ...readings } = JSON.parse(response)
      expect(error, jsonToYaml(documents[i] ?? '')).to.equal(undefined)
      expect(Object.keys(readings)).to.have.members(['sigs.k8s.io/yaml', 'go-yaml v2', 'go-yaml v3'])
      const exact = parseExactly(response)
      if (exact instanceof Map) for (const reading of exact.values()) expectSame(i, reading)
    }
  })

  // This test requires Python with PyYAML.
  if (spawnSync('python3', ['-c', 'import yaml']).status === 0) {
    it('is parsed to the same value by PyYAML, which implements YAML 1.1', async () => {
      const responses = await readAll('python3', [join(import.meta.dirname, 'yaml-reader.py')])
      for (const [i, response] of responses.entries()) expectSame(i, parseExactly(response))
    })
  }
})

/**
 * Sends each document as a JSON string per line to a program, which responds with a line of JSON
 * for each.
 */
async function readAll(program: string, args: readonly string[]): Promise<readonly string[]> {
  const stdin = documents.map(json => `${JSON.stringify(jsonToYaml(json))}\n`).join('')
  const responses = (await output(program, args, { stdin })).trimEnd().split('\n')
  expect(responses.length).to.equal(documents.length)
  return responses
}

function expectSame(i: number, found: ExactValue): void {
  const json = documents[i] ?? ''
  const difference = findDifference(parseExactly(json), found)
  if (difference !== undefined) expect.fail(`${difference} in\n${jsonToYaml(json)}`)
}

function findDifference(expected: ExactValue, found: ExactValue, path = ''): string | undefined {
  const fail = `${path}: ${show(expected)} was read as ${show(found)}`
  if (expected instanceof Map) {
    if (!(found instanceof Map) || found.size !== expected.size) return fail
    return firstOf(expected, ([key, value]) => {
      const other = found.get(key)
      return other === undefined ? `${path}.${key}: missing` : findDifference(value, other, `${path}.${key}`)
    })
  }
  if (Array.isArray(expected)) {
    if (!Array.isArray(found) || found.length !== expected.length) return fail
    return firstOf(expected.entries(), ([i, value]) =>
      findDifference(value, found[i] ?? null, `${path}[${i}]`),
    )
  }
  if (isNumber(expected))
    return isNumber(found) && isSameNumber(expected.number, found.number) ? undefined : fail
  return expected === found ? undefined : fail
}

function firstOf<T>(values: Iterable<T>, find: (value: T) => string | undefined): string | undefined {
  for (const value of values) {
    const found = find(value)
    if (found !== undefined) return found
  }
  return undefined
}

function isNumber(value: ExactValue): value is { readonly number: string } {
  return typeof value === 'object' && value !== null && 'number' in value
}

/**
 * Compares 64-bit integers exactly, and other numbers as 64-bit floats, to which all readers
 * convert them.
 */
function isSameNumber(a: string, b: string): boolean {
  if (/^-?\d+$/.test(a) && a !== '-0' && BigInt.asIntN(65, BigInt(a)) === BigInt(a)) return a === b
  return Object.is(Number(a), Number(b))
}

function show(value: ExactValue): string {
  return value instanceof Map ? `{${[...value.keys()]}}` : JSON.stringify(value)
}

function parseExactly(json: string): ExactValue {
  return readAt(json, 0).value
}

function readAt(json: string, start: number): { readonly value: ExactValue; readonly end: number } {
  const first = json[start]
  const end = skipValue(json, start)
  if (first === '"') return { value: String(JSON.parse(json.slice(start, end))).toWellFormed(), end }
  if (first !== '{' && first !== '[') return { value: toWord(json.slice(start, end)), end }
  const items: ExactValue[] = []
  const members = new Map<string, ExactValue>()
  for (let at = firstIn(json, start); at >= 0; ) {
    const keyEnd = first === '{' ? skipString(json, at) : at
    const item = readAt(json, first === '{' ? valueAfter(json, keyEnd) : at)
    if (first === '{') members.set(String(JSON.parse(json.slice(at, keyEnd))).toWellFormed(), item.value)
    else items.push(item.value)
    at = nextIn(json, item.end)
  }
  return { value: first === '{' ? members : items, end }
}

function toWord(text: string): ExactValue {
  if (text === 'true' || text === 'false') return text === 'true'
  return text === 'null' ? null : { number: text }
}
