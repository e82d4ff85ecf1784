import { expect } from 'chai'
import { fnv1a64, formatShardSelector, matchesShard, parseShardSelector } from './shard-selector.ts'

const uid = 'object.metadata.uid'
const full = "'0x0000000000000000', '0x10000000000000000'"
const lower = "'0x0000000000000000', '0x8000000000000000'"
const upper = "'0x8000000000000000', '0x10000000000000000'"

describe('shardSelector', () => {
  const valid: readonly [text: string, canonical: string][] = [
    [`shardRange(${uid}, ${full})`, `shardRange(${uid}, ${full})`],
    [
      "shardRange(object.metadata.namespace,'0x00000000000000aa','0x00000000000000ff')",
      "shardRange(object.metadata.namespace, '0x00000000000000aa', '0x00000000000000ff')",
    ],
    [
      `  shardRange( ${uid} , ${lower} )||shardRange(${uid},${upper})  `,
      `shardRange(${uid}, ${lower}) || shardRange(${uid}, ${upper})`,
    ],
    [
      `((shardRange(${uid}, ${lower})) || (shardRange(${uid}, ${upper})))`,
      `shardRange(${uid}, ${lower}) || shardRange(${uid}, ${upper})`,
    ],
    [
      `shardRange(${uid}, "0x0000000000000001", "0x0000000000000002")`,
      `shardRange(${uid}, '0x0000000000000001', '0x0000000000000002')`,
    ],
  ]
  for (const [text, canonical] of valid)
    it(`reads ${text}`, () => expect(formatShardSelector(parseShardSelector(text))).to.equal(canonical))

  const start = 'invalid shard selector: '
  const hash = (name: string, value: string) =>
    `${start}invalid ${name} "${value}": expected 0x and 16 lower-case hexadecimal digits, or 0x10000000000000000`
  const call = `${start}unexpected`
  const invalid: readonly [text: string, message: string][] = [
    [' ', `${call} "end": expected shardRange(<field>, '<start>', '<end>')`],
    [`other(${uid}, ${full})`, `${call} "other": expected shardRange(<field>, '<start>', '<end>')`],
    [`shardRange(${uid})`, `${call} ")": expected ","`],
    [`shardRange(${uid}, ${full}, '')`, `${call} ",": expected ")"`],
    [`shardRange(${uid}, 0, 8)`, `${call} "0": expected hexStart as a string, such as '0x8000000000000000'`],
    [`shardRange(${uid}, '0x0', '0x8')`, hash('hexStart', '0x0')],
    [`shardRange(${uid}, '0000000000000000', '0x8000000000000000')`, hash('hexStart', '0000000000000000')],
    [`shardRange(${uid}, '0x0000000000000000', '0x800000000000000G')`, hash('hexEnd', '0x800000000000000G')],
    [
      `shardRange(${uid}, '0x000000000000000A', '0x8000000000000000')`,
      hash('hexStart', '0x000000000000000A'),
    ],
    [
      `shardRange(${uid}, '0x0000000000000000', '0x10000000000000001')`,
      hash('hexEnd', '0x10000000000000001'),
    ],
    [
      `shardRange(${uid}, '0x8000000000000000', '0x8000000000000000')`,
      `${start}shard range start 0x8000000000000000 must be less than end 0x8000000000000000`,
    ],
    [
      `shardRange(object.metadata.name, ${full})`,
      `${start}unsupported field path "object.metadata.name"; supported: object.metadata.uid, object.metadata.namespace`,
    ],
    [
      `shardRange(${uid}, ${lower}) || shardRange(object.metadata.namespace, ${upper})`,
      `${start}all shard ranges must use the same field, got "object.metadata.uid" and "object.metadata.namespace"`,
    ],
    [`shardRange(${uid}, ${lower}) && shardRange(${uid}, ${upper})`, `${call} "&": expected || or the end`],
    [`shardRange(${uid}, ${lower}) ||`, `${call} "end": expected shardRange(<field>, '<start>', '<end>')`],
    ['('.repeat(40), `${start}too many parentheses`],
    [
      Array(33).fill(`shardRange(${uid}, ${full})`).join('||'),
      'shardSelector has 33 terms; at most 32 are allowed',
    ],
  ]
  for (const [text, message] of invalid)
    it(`rejects ${text.slice(0, 100)}`, () =>
      expect(() => parseShardSelector(text))
        .to.throw()
        .with.nested.property('message', message))

  // Values computed with hash/fnv of Go.
  const hashes: readonly [text: string, hash: bigint][] = [
    ['', 0xcbf29ce484222325n],
    ['a', 0xaf63dc4c8601ec8cn],
    ['foobar', 0x85944171f73967e8n],
  ]
  for (const [text, hash] of hashes)
    it(`hashes ${JSON.stringify(text)}`, () => expect(fnv1a64(text)).to.equal(hash))

  it('computes the same hashes as 64-bit arithmetic', () => {
    for (let i = 0; i < 500; i++) {
      const text = `${i * 7919}-é-${i.toString(36).repeat(i % 9)}`
      let hash = 0xcbf29ce484222325n
      for (const byte of Buffer.from(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n)
      expect(fnv1a64(text)).to.equal(hash)
    }
  })

  it('assigns each object to exactly one shard', () => {
    const shards = [lower, upper].map(range => parseShardSelector(`shardRange(${uid}, ${range})`))
    for (let i = 0; i < 100; i++) {
      const object = { uid: `uid-${i}`, namespace: 'default' }
      expect(shards.filter(ranges => matchesShard(ranges, object))).to.have.length(1)
    }
  })

  it('selects by the hash of the namespace', () => {
    const ranges = parseShardSelector(`shardRange(object.metadata.namespace, ${lower})`)
    const isLower = fnv1a64('default') < 2n ** 63n
    expect(matchesShard(ranges, { uid: 'any', namespace: 'default' })).to.equal(isLower)
  })
})
