import { expect } from 'chai'
import { toStatus } from '../../apierrors/status.ts'
import { keepLabels, parseSent } from './sent-object.ts'

const outcome = (run: () => unknown) => {
  try {
    return run()
  } catch (error) {
    const { code, message } = toStatus(error)
    return [code, message]
  }
}

describe('parseSent', () => {
  const rows: readonly (readonly [body: unknown, expected: unknown])[] = [
    [{}, { metadata: { labels: {} } }],
    [{ metadata: null }, { metadata: { labels: {} } }],
    [
      { kind: 'Group', apiVersion: 'g/v1', metadata: { labels: null, name: 'a' }, x: 1 },
      { kind: 'Group', apiVersion: 'g/v1', metadata: { labels: {}, name: 'a' }, x: 1 },
    ],
    [[], [400, 'the body must be a Group as a JSON object']],
    [null, [400, 'the body must be a Group as a JSON object']],
    [{ kind: 'Pod' }, [400, 'the body must be a Group of g/v1']],
    [{ apiVersion: 'g/v2' }, [400, 'the body must be a Group of g/v1']],
    [{ metadata: 5 }, [400, 'metadata must be an object']],
    [{ metadata: [] }, [400, 'metadata must be an object']],
    [{ metadata: { labels: 'a' } }, [400, 'metadata.labels must be an object']],
  ]
  for (const [body, expected] of rows)
    it(`parses ${JSON.stringify(body)}`, () =>
      expect(outcome(() => parseSent(body, { kind: 'Group', apiVersion: 'g/v1' }))).to.deep.equal(expected))

  for (const body of [{}, { metadata: { name: 'b' } }, { metadata: { name: 5 } }])
    it(`rejects ${JSON.stringify(body)} at the path of another name`, () =>
      expect(outcome(() => parseSent(body, { kind: 'Group', name: 'a' }))).to.deep.equal([
        400,
        'metadata.name must be the name in the path, "a"',
      ]))
})

describe('keepLabels', () => {
  const labels = { 'kapis.io/work~space': 'blue' }
  const required = [400, 'metadata.labels must be an object: the label kapis.io/work~space is required']
  const unsupported = [400, '$patch is not supported here: the label kapis.io/work~space is required']
  const rows: readonly (readonly [patch: unknown, expected: unknown])[] = [
    [{}, { metadata: { labels } }],
    [
      { spec: {}, metadata: { name: 'a', labels: { a: null, 'kapis.io/work~space': null } } },
      { spec: {}, metadata: { name: 'a', labels: { a: null, ...labels } } },
    ],
    [
      [{ op: 'remove', path: '/metadata/labels/kapis.io~1work~0space' }],
      [
        { op: 'remove', path: '/metadata/labels/kapis.io~1work~0space' },
        { op: 'add', path: '/metadata/labels/kapis.io~1work~0space', value: 'blue' },
      ],
    ],
    [{ metadata: null }, required],
    [{ metadata: { labels: null } }, required],
    [{ metadata: { labels: { $patch: 'delete' } } }, unsupported],
    [{ metadata: { $patch: 'replace', name: 'a' } }, unsupported],
    [{ $patch: 'delete' }, unsupported],
    [{ metadata: { labels: [] } }, [400, 'metadata.labels must be an object']],
    ['x', 'x'],
  ]
  for (const [patch, expected] of rows)
    it(`keeps a label in ${JSON.stringify(patch)}`, () =>
      expect(outcome(() => keepLabels(patch, labels))).to.deep.equal(expected))

  it('changes nothing without labels', () => {
    const patch = { metadata: { labels: null } }
    expect(keepLabels(patch, {})).to.equal(patch)
  })
})
