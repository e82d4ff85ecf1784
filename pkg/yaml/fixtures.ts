import fc from 'fast-check'

/** Strings that some YAML version or parser does not read as strings if plain. */
export const trickyTexts: readonly string[] = [
  ...['y', 'Y', 'n', 'N', 'yes', 'Yes', 'YES', 'yEs', 'no', 'NO', 'on', 'On', 'off', 'OFF', 'true', 'True'],
  ...[
    'TRUE',
    'false',
    'null',
    'Null',
    'NULL',
    '~',
    '',
    '.nan',
    '.NaN',
    'nan',
    '.inf',
    '-.inf',
    '+.INF',
    'inf',
  ],
  ...['12:30:45', '190:20:30.15', '1:2', '0o7', '0755', '0x1F', '0b1', '1_000', '1e3', '12e03', '1.', '+1'],
  ...[
    '.5',
    '-1',
    '0',
    '-0',
    '1',
    '1.0',
    '6.8523015e+5',
    '_1',
    '1__',
    'e1',
    'E1',
    'e+1',
    '.',
    '0.',
    'Infinity',
  ],
  ...['2024-01-01', '2024-01-01T00:00:00Z', '2001-12-14 21:59:43.10 -5', '2001-12-14t21:59:43.10-05:00'],
  ...['<<', '=', '---', '...', '--- a', '... a', '%YAML 1.2', '-', '--', '- a', '?', '? a', ':', ': a', 'a:'],
  ...[
    'a: b',
    'a:b',
    'a::',
    'a #b',
    'a#b',
    '#',
    '#a',
    '@a',
    '`a',
    '!a',
    '!!binary x',
    '&a',
    '*a',
    '|',
    '>',
    '|-',
  ],
  ...[
    '{',
    '}',
    '[',
    ']',
    ',',
    'a,b',
    '[1]',
    '{a: b}',
    '"',
    "'",
    '\\',
    "it's",
    'a"b',
    'https://a.b:6443/c?d=e',
  ],
  ...[' ', '  a', 'a ', 'a  b', '\t', '\ta', 'a\t', 'a\tb', 'a\tb\nc', '\ta\nb', 'a\n\tb', 'a \nb', 'a\nb '],
  ...['\n', 'a\n', 'a\n\n', '\na', 'a\nb', 'a\n\nb\n', 'a\n b', ' a\nb', '\n a\nb', 'a\r\nb', '\r', 'a\rb'],
  ...[
    'a\n---\nb\n',
    'a\n...\nb',
    '---\na',
    'key: value\n- item\n',
    '# a\nb\n',
    'a\n# b\n',
    '- a\n- b',
    'yes\n',
  ],
  ...[
    '\u0000',
    '\u0007',
    '\u001b[31m',
    '\u007f',
    '\u0085',
    'a\u0085b',
    '\u009f',
    '\u00a0',
    '\u00ad',
    '\u200b',
  ],
  ...[
    '\u2028',
    '\u2029',
    'x\u2028kind: Secret',
    'a\u2028b\nc',
    '\u202e',
    '\ufeff',
    '\ufffe',
    '\uffff',
    '\u{e0001}',
  ],
  ...[
    '\u{1fffe}',
    '\u{10ffff}',
    '\ud800',
    '\udc00x',
    'é',
    'grün 証明書 🎉',
    '👩‍💻',
    '__proto__',
    'constructor',
  ],
  ...[
    'x'.repeat(1_500),
    'word '.repeat(400),
    'y: '.repeat(400),
    `${'word '.repeat(400)}\nx`,
    'ключ'.repeat(300),
  ],
]

/** JSON numbers whose source text must be preserved. */
export const trickyNumbers: readonly string[] = [
  ...['0', '-0', '1.0', '-0.0', '1e3', '1E3', '1e+3', '-1.5E-7', '0.1', '1e21', '1e-7', '5e-324'],
  ...['9007199254740993', '9223372036854775807', '-9223372036854775808', '18446744073709551615'],
  ...['1.7976931348623157e308', '0.1000000000000000055511151231257827'],
]

const texts = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...trickyTexts) },
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc
    .array(fc.constantFrom(...trickyTexts, '\n', ' ', ':', '#', '-'), { maxLength: 4 })
    .map(all => all.join('')),
  fc.array(fc.constantFrom(...'abcyneoE01.:-_+ \n\t#'), { maxLength: 10 }).map(all => all.join('')),
)
const numbers = fc.oneof(
  fc.constantFrom(...trickyNumbers),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }).map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(number => JSON.stringify(number)),
)

// V8 may read a key of one escaped character as a backslash (https://github.com/nodejs/node/issues/63785).
const keys = texts.filter(key => !/^["\\\p{Cc}]$/u.test(key))

/** JSON texts with numbers of any size, all escapes, and keys in any order. */
export const jsonTexts: fc.Arbitrary<string> = fc.letrec<{ value: string; object: string; array: string }>(
  tie => ({
    value: fc.oneof(
      { maxDepth: 5, depthSize: 'small' },
      texts.map(text => JSON.stringify(text)),
      numbers,
      fc.constantFrom('true', 'false', 'null'),
      tie('object'),
      tie('array'),
    ),
    array: fc.array(tie('value'), { maxLength: 5 }).map(items => `[${items.join(',')}]`),
    object: fc
      .uniqueArray(fc.tuple(keys, tie('value')), { maxLength: 5, selector: ([key]) => key.toWellFormed() })
      .map(members => `{${members.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join()}}`),
  }),
).value
