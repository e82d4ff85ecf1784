import { expect } from 'chai'
import { formatTime } from './rfc3339.ts'

const times: readonly [bigint, string][] = [
  [0n, '1970-01-01T00:00:00Z'],
  [1n, '1970-01-01T00:00:00.000000001Z'],
  [1589644842000000000n, '2020-05-16T16:00:42Z'],
  [1589644842600000000n, '2020-05-16T16:00:42.6Z'],
  [1589644842608962452n, '2020-05-16T16:00:42.608962452Z'],
  [9223372036854775807n, '2262-04-11T23:47:16.854775807Z'],
]

describe('formatTime', () => {
  for (const [ns, text] of times) it(text, () => expect(formatTime(ns)).to.equal(text))
})
