/** A log line as written by its program, and the expected result. */
export type Shape = {
  /** The field `id`; if a line is written twice, that of the second line. */
  readonly id: string
  /** JSON, on one line. */
  readonly line: string
  /** Undefined if the document has no text field. */
  readonly log?: string
  readonly fields: Readonly<Record<string, unknown>>
}

const plain = 100
const long = 60_000

/** The lines of a round: 100 plain ones, and one or two of each shape. */
export function makeRound(namespace: string, round: number): readonly Shape[] {
  const origin = { namespace, pod: { name: 'shapes-0' }, container: { name: 'app' } }
  const shape = (
    name: string,
    members: string,
    expected: Readonly<Record<string, unknown>>,
    log?: string,
  ): Shape => {
    const id = `${name}-${round}`
    const message = log === undefined ? '' : `"message":${JSON.stringify(log)},`
    return {
      id,
      line: `{${message}"id":"${id}",${members === '' ? '' : `${members},`}"kubernetes":${JSON.stringify(origin)}}\n`,
      ...(log === undefined ? {} : { log }),
      fields: { id, ...expected },
    }
  }
  const twice = shape('twice', '', {}, 'the same line')
  return [
    // This line is first: two batches that consist only of it would be the same batch for Kapis.
    ...[twice, twice],
    ...Array.from({ length: plain }, (_, i) => shape(`plain-${i}`, `"n":${i}`, { n: i }, `line ${i}`)),
    shape('long', '"n":1', { n: 1 }, `${'long '.repeat(long / 5)}end`),
    shape(
      'unicode',
      '"größe":"\\u00fc","emoji":"\\ud83d\\ude00"',
      { größe: 'ü', emoji: '😀' },
      'größe ошибка 日本語 👩‍🚀 e\u0301 \u2028 "quoted" \\ \t tab\u0001 end',
    ),
    shape('breaks', '', {}, 'first\n  second\r\nthird'),
    shape(
      'nested',
      '"http":{"status":503,"headers":{"x-a":"b"}},"users":[{"name":"a"},{"name":"b"}],"a":{"b":{"c":{"d":{"e":"deep"}}}}',
      {
        ...{ 'http.status': 503, 'http.headers.x-a': 'b', users: '[{"name":"a"},{"name":"b"}]' },
        'a.b.c.d.e': 'deep',
      },
      'nested',
    ),
    shape(
      'numbers',
      '"odd":9007199254740993,"most":9223372036854775807,"ratio":0.1,"negative":-5,"zero":0',
      { odd: 9007199254740993n, most: 9223372036854775807n, ratio: 0.1, negative: -5, zero: 0 },
      'numbers',
    ),
    shape(
      'values',
      '"nothing":null,"yes":true,"no":false,"empty":"","words":["a","b"],"none":[],"dotted.name":"x"',
      { yes: true, no: false, empty: '', words: ['a', 'b'], 'dotted.name': 'x' },
      'values',
    ),
    shape('empty', '"n":2', { n: 2 }, ''),
    shape('without', '"event":"started"', { event: 'started' }),
    shape('time', '"timestamp":"yesterday"', { timestamp: 'yesterday' }, 'bad time'),
  ]
}
