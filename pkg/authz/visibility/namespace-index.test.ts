import { expect } from 'chai'
import { thrownFields } from '../../apierrors/fixtures.ts'
import type { KubeObject } from '../../kubeclient/object/object.ts'
import { NamespaceIndex } from './namespace-index.ts'

const namespace = (name: string, creationTimestamp: string, workspace?: string): KubeObject => ({
  metadata: {
    name,
    uid: name,
    resourceVersion: '1',
    creationTimestamp,
    ...(workspace === undefined ? {} : { labels: { 'kapis.io/workspace': workspace } }),
  },
})

describe('NamespaceIndex', () => {
  it('is empty before the first list', () => {
    const index = new NamespaceIndex('kapis.io')
    for (const read of [() => index.created, () => index.workspaces])
      expect(thrownFields(read)).to.include({ code: 503, reason: 'ServiceUnavailable' })
  })

  it('tracks the creation time and the workspace of each namespace', () => {
    const index = new NamespaceIndex('kapis.io')
    const state = () => [[...index.created], [...index.workspaces]]
    index.handler.replace([
      namespace('a', '1970-01-01T00:00:05Z', 'w'),
      namespace('b', '1970-01-01T00:00:06Z'),
    ])
    expect(state()).to.deep.equal([
      [
        ['a', 5],
        ['b', 6],
      ],
      [
        ['a', 'w'],
        ['b', ''],
      ],
    ])
    index.handler.apply([
      { type: 'DELETED', object: namespace('a', '1970-01-01T00:00:05Z') },
      { type: 'MODIFIED', object: namespace('b', '1970-01-01T00:00:06Z', 'v') },
      { type: 'BOOKMARK', object: namespace('', '') },
    ])
    expect(state()).to.deep.equal([[['b', 6]], [['b', 'v']]])
    index.handler.replace([])
    expect(state()).to.deep.equal([[], []])
  })
})
