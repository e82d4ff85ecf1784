import { expect } from 'chai'
import { toLowerCase, toUpperCase } from './letter-case.ts'

describe('letter case of LogsQL', () => {
  // As VictoriaLogs 1.52.1 converts them.
  const lower: Readonly<Record<string, string>> = {
    ...{ 'İstanbul I': 'istanbul i', ΟΔΟΣ: 'οδοσ', 'Straße ẞ': 'straße ß', ǅ: 'ǆ', ᾼ: 'ᾳ', K: 'k', ſ: 'ſ' },
    ...{ 𐐀Éﬁ: '𐐨éﬁ' },
  }
  const upper: Readonly<Record<string, string>> = {
    ...{
      'straße ﬁ ŉ ΐ': 'STRAßE ﬁ ŉ ΐ',
      ᾳ: 'ᾼ',
      'ᾀ ῳ': 'ᾈ ῼ',
      'ᾼ ß': 'ᾼ ß',
      ǅ: 'Ǆ',
      ı: 'I',
      ſ: 'S',
      𐐨é: '𐐀É',
    },
  }
  for (const [text, converted] of Object.entries(lower))
    it(`converts ${text} to ${converted}`, () => expect(toLowerCase(text)).to.equal(converted))
  for (const [text, converted] of Object.entries(upper))
    it(`converts ${text} to ${converted}`, () => expect(toUpperCase(text)).to.equal(converted))
})
