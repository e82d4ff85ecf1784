import { expect } from 'chai'
import { editYaml } from './edit-yaml.ts'
import { fields, type Path, type Value, type ValueChange } from './value.ts'

const set = (path: Path, value: Value): ValueChange => ({ path, value })
const remove = (path: Path): ValueChange => ({ path })
const user = (name: string): ValueChange => set(['users', { name }, 'user'], fields({ token: 'no' }))
const server: Path = ['clusters', { name: 'a' }, 'cluster', 'server']

// Title, text before, changes, text after.
const cases: readonly [string, string, readonly ValueChange[], string][] = [
  [
    'creates a document',
    '',
    [set(['kind'], 'Config'), user('y')],
    'kind: Config\nusers:\n- user:\n    token: "no"\n  name: "y"\n',
  ],
  [
    'preserves a document with only a comment',
    '# mine\n',
    [set(['kind'], 'Config')],
    '# mine\nkind: Config\n',
  ],
  [
    'preserves quotes and comments',
    'a: "no" # c\n# d\nb: \'y\'\n',
    [set(['b'], 'x')],
    'a: "no" # c\n# d\nb: x\n',
  ],
  [
    'preserves a comment after a value',
    'a: 1 # one\nb:   two   # 2\n',
    [set(['b'], 'on')],
    'a: 1 # one\nb: "on" # 2\n',
  ],
  ['sets an empty value', 'a: # nothing\nb: 1\n', [set(['a'], 'x')], 'a: x # nothing\nb: 1\n'],
  [
    'sets a null value',
    'users: null\nb: 1\n',
    [user('k')],
    'users:\n- user:\n    token: "no"\n  name: k\nb: 1\n',
  ],
  [
    'appends to a list with its indentation',
    'users:\n  - name: a # x\n\n# y\nb: 1\n',
    [user('k')],
    'users:\n  - name: a # x\n  - user:\n      token: "no"\n    name: k\n\n# y\nb: 1\n',
  ],
  [
    'appends to a text without a trailing line break',
    'users:\n- name: a',
    [user('k')],
    'users:\n- name: a\n- user:\n    token: "no"\n  name: k\n',
  ],
  [
    'appends after a block scalar',
    'users:\n- name: a\n  x: |+\n    t\n\n',
    [user('k')],
    'users:\n- name: a\n  x: |+\n    t\n\n- user:\n    token: "no"\n  name: k\n',
  ],
  [
    'appends to an empty list',
    'users: []\nb: 1\n',
    [user('k')],
    'users:\n- user:\n    token: "no"\n  name: k\nb: 1\n',
  ],
  [
    'appends to a flow list',
    'users: [{name: a}] # x\n',
    [user('k')],
    'users: [{name: a}, {user: {token: "no"}, name: k}] # x\n',
  ],
  [
    'keeps JSON',
    '{\n  "users": [\n    {"name": "a"}\n  ]\n}\n',
    [user('k')],
    '{\n  "users": [\n    {\n      "name": "a"\n    },\n    {\n      "user": {\n        "token": "no"\n      },\n      "name": "k"\n    }\n  ]\n}\n',
  ],
  ['fills an empty map', '{}\n', [set(['a'], 'b')], '{"a": "b"}\n'],
  [
    'keeps CRLF',
    'a: 1\r\nusers:\r\n- name: a\r\n',
    [user('k')],
    'a: 1\r\nusers:\r\n- name: a\r\n- user:\r\n    token: "no"\r\n  name: k\r\n',
  ],
  [
    'changes one field of an item',
    'clusters:\n- cluster: # c\n    server: x # s\n    tls-server-name: "on"\n  name: a\n',
    [set(server, 'https://y')],
    'clusters:\n- cluster:\n    # c\n    server: https://y # s\n    tls-server-name: "on"\n  name: a\n',
  ],
  ['removes a line', 'a:\n  b: 1 # x\n  c: 2\n', [remove(['a', 'b'])], 'a:\n  c: 2\n'],
  [
    'removes the first field of an item',
    'l:\n- b: 1\n  name: k\n',
    [remove(['l', { name: 'k' }, 'b'])],
    'l:\n- name: k\n',
  ],
  ['removes the last field', 'a:\n  b: 1\nc: 2\n', [remove(['a', 'b'])], 'a: {}\nc: 2\n'],
  [
    'removes an item',
    'l:\n- name: a\n  x: 1\n# of b\n- name: b\n',
    [remove(['l', { name: 'a' }])],
    'l:\n# of b\n- name: b\n',
  ],
  ['removes the only item', 'l:\n- name: a\nb: 1\n', [remove(['l', { name: 'a' }])], 'l: []\nb: 1\n'],
  [
    'removes from flow lists',
    'l: [{name: a}, {name: b}, ]\n',
    [remove(['l', { name: 'a' }])],
    'l: [{name: b}]\n',
  ],
  [
    'changes only the first document',
    '---\na: 1\n---\na: [broken\n',
    [set(['a'], 'x')],
    '---\na: x\n---\na: [broken\n',
  ],
  ['uses the last of two keys, as go-yaml does', 'a: 1\na: 2\n', [set(['a'], 'x')], 'a: 1\na: x\n'],
  ['returns the same text without a change', 'a:   b\n', [set(['a'], 'b'), remove(['c', 'd'])], 'a:   b\n'],
  [
    'creates parent mappings',
    'a: 1\n',
    [set(['b', { name: 'k' }, 'c', 'd'], 'x')],
    'a: 1\nb:\n- c:\n    d: x\n  name: k\n',
  ],
  [
    'does not change a value that an alias shares',
    'x: &x\n  server: s\nclusters:\n- name: a\n  cluster: *x\n- name: b\n  cluster: *x\n',
    [set(server, 'y')],
    'x: &x\n  server: s\nclusters:\n- name: a\n  cluster:\n    server: "y"\n- name: b\n  cluster: *x\n',
  ],
  [
    'does not change a value with an anchor',
    'clusters:\n- name: a\n  cluster: &x\n    server: s # c\n- name: b\n  cluster: *x\n',
    [set(server, 'z')],
    'clusters:\n- name: a\n  cluster:\n    server: z\n- name: b\n  cluster:\n    server: s\n',
  ],
  [
    'overrides a merge key',
    'x: &x {server: s, other: 1}\nclusters:\n- name: a\n  cluster:\n    <<: *x\n',
    [set(server, 'z')],
    'x: &x {server: s, other: 1}\nclusters:\n- name: a\n  cluster:\n    <<: *x\n    server: z\n',
  ],
  [
    "compares an item's name as go-yaml does",
    'l:\n- name: 12:30:45\n  x: 1\n- name: "no"\n- name: no\n',
    [set(['l', { name: '12:30:45' }, 'x'], 'y'), set(['l', { name: 'no' }, 'x'], 'z')],
    'l:\n- name: 12:30:45\n  x: "y"\n- name: "no"\n  x: z\n- name: no\n',
  ],
]

describe('editYaml', () => {
  for (const [what, before, changes, after] of cases)
    it(what, () => {
      expect(editYaml(before, changes)).to.equal(after)
    })

  it('rejects invalid YAML', () => {
    const refused: readonly [string, string][] = [
      [
        'a: [',
        'Flow sequence in block collection must be sufficiently indented and end with a ] at line 1, column 5',
      ],
      ['a: *x\n', 'unknown anchor "x"'],
      ['a: *x\nb: &x 1\n', 'unknown anchor "x"'],
      ['a: &x [*x]\n', 'anchor "x" contains itself'],
      ['a: &x {b: &y [1, *x]}\n', 'anchor "x" contains itself'],
      ['a: 1\n<<: 2\n', 'a merge key requires a mapping'],
    ]
    for (const [text, message] of refused)
      expect(() => editYaml(text, [set(['b'], 'x')]), text).to.throw(message)
  })

  it('reads the nearest anchor before an alias', () => {
    const text = 'a: &x 1\nb: *x\nc: &x 2\nd: *x\n'
    expect(editYaml(text, [set(['b'], { source: '1' }), set(['d'], { source: '2' })])).to.equal(text)
  })

  it('has no limit for a file without aliases', function () {
    this.timeout(60_000)
    const text = JSON.stringify({ a: Array.from({ length: 101_000 }, () => 1) })
    expect(editYaml(text, [set(['a'], 'x')])).to.equal('{"a": "x"}\n')
  })

  it('reads many aliases in one pass', function () {
    this.timeout(60_000)
    const lines = Array.from({ length: 20_000 }, (_, i) => `a${i}: *x\n`)
    const text = `x: &x y\n${lines.join('')}`
    expect(editYaml(text, [set(['a1'], 'z')])).to.equal(text.replace('a1: *x', 'a1: z'))
  })

  it('rejects aliases that expand too far', () => {
    const lines = Array.from({ length: 30 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]`)
    const bomb = `a0: &a0 x\n${lines.join('\n')}\n`
    expect(() => editYaml(bomb, [set(['b'], 'x')])).to.throw('too many aliases')
  })
})
