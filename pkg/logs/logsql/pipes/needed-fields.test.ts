import { expect } from 'chai'
import { parseLogsql } from '../parse/parse.ts'
import { neededFields } from './needed-fields.ts'

const table: Readonly<Record<string, readonly string[] | undefined>> = {
  '*': undefined,
  'error | sort by (bytes) limit 3': undefined,
  '* | fields a, b': ['a', 'b'],
  '* | fields a*': undefined,
  'error | stats count() n': ['_msg'],
  '* | stats count() n': [],
  '* | stats by (level) count(status) n, sum(bytes) if (pod:x or not _stream:{namespace="y"}) s': [
    ...['level', 'status', 'bytes', 'pod', 'container', 'namespace'],
  ],
  '* | stats by (_time:1h) quantile(0.5, d) q, histogram(e) h': ['_time', 'd', 'e'],
  '* | stats sum(*) s': undefined,
  'x*:error | stats count() n': undefined,
  '_time:day_range[01:00, 02:00] | stats count() n': ['_time'],
  '* | limit 9 | top 5 by (pod)': ['pod'],
  '* | uniq by (pod, level)': ['pod', 'level'],
  '* | field_names': undefined,
  '* | patterns from text': ['text'],
  '* | filter a:1 | len(b) as c | math (d + max(e, -f)) as g | stats max(g) m': [
    ...['g', 'd', 'e', 'f', 'b', 'a'],
  ],
  '* | format if (a:1) "<b><uc:c>" as d | uniq by (d)': ['d', 'b', 'c', 'a'],
  '* | extract if (a:1) "x=<b>" from c | unpack_json if (d:1) from e | top 3 by (b)': [
    ...['b', 'e', 'd', 'c', 'a'],
  ],
}

describe('neededFields', () => {
  for (const [text, fields] of Object.entries(table)) {
    it(text, () => {
      const { filter, pipes } = parseLogsql(text, 0n)
      const found = neededFields(filter, pipes)?.filter(name => name !== '')
      expect(found?.toSorted()).to.deep.equal(fields?.toSorted())
    })
  }
})
