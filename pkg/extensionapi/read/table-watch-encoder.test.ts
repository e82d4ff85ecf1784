import { expect } from 'chai'
import { expired } from '../../apierrors/status.ts'
import { entry, servedNodes } from '../../resourcecache/fixtures.ts'
import type { CachedObject } from '../../resourcecache/store/cached-object.ts'
import type { WatchChange } from '../../resourcecache/store/watch-window.ts'
import { encodeError, openingOnce, toSelectedEvent } from '../../resourcecache/watch/watch-encoder.ts'
import { createEncoder, type Shape } from './table-watch-encoder.ts'

const objects: Shape = { as: 'object' }
const partials: Shape = { as: 'partial', version: 'v1' }
const tables: Shape = { as: 'table', version: 'v1', includeObject: 'Metadata' }

function read(event: Buffer | undefined) {
  if (event === undefined) return undefined
  const text = event.toString()
  expect(text.indexOf('\n')).to.equal(text.length - 1)
  return JSON.parse(text)
}

const inside = (version: number) => entry('n1', { version, labels: { zone: 'a' }, spec: { at: version } })
const outside = (version: number) => entry('n1', { version, labels: { zone: 'b' }, spec: { at: version } })
const matches = (e: CachedObject) => e.meta.labels?.zone === 'a'

describe('createEncoder', () => {
  describe('event of a change', () => {
    type Expected = { type: string; version: string; at: number } | undefined
    const table: readonly [string, WatchChange, Expected][] = [
      [
        'ADDED for a new object that matches',
        { type: 'ADDED', version: 2, entry: inside(2), old: undefined },
        { type: 'ADDED', version: '2', at: 2 },
      ],
      [
        'nothing for a new object that does not match',
        { type: 'ADDED', version: 2, entry: outside(2), old: undefined },
        undefined,
      ],
      [
        'MODIFIED for a change of a matching object',
        { type: 'MODIFIED', version: 2, entry: inside(2), old: inside(1) },
        { type: 'MODIFIED', version: '2', at: 2 },
      ],
      [
        'nothing for a change of an object that does not match',
        { type: 'MODIFIED', version: 2, entry: outside(2), old: outside(1) },
        undefined,
      ],
      [
        'ADDED for an object that begins to match',
        { type: 'MODIFIED', version: 2, entry: inside(2), old: outside(1) },
        { type: 'ADDED', version: '2', at: 2 },
      ],
      [
        'DELETED for an object that stops matching: its last matching state, at the version of the change',
        { type: 'MODIFIED', version: 2, entry: outside(2), old: inside(1) },
        { type: 'DELETED', version: '2', at: 1 },
      ],
      [
        'DELETED for a matching object that is deleted: its last state, at the version of the deletion',
        { type: 'DELETED', version: 2, entry: inside(2), old: inside(1) },
        { type: 'DELETED', version: '2', at: 2 },
      ],
      [
        'nothing for a deleted object that does not match',
        { type: 'DELETED', version: 2, entry: outside(2), old: outside(1) },
        undefined,
      ],
      [
        'nothing for the deletion of an unknown object',
        { type: 'DELETED', version: 2, entry: inside(2), old: undefined },
        undefined,
      ],
    ]
    for (const [what, change, expected] of table) {
      it(`sends ${what}`, () => {
        const selected = toSelectedEvent(change, matches)
        const event =
          selected && read(createEncoder(servedNodes, objects).event(selected.type, selected.entry()))
        const received = event && {
          type: event.type,
          version: event.object.metadata.resourceVersion,
          at: event.object.spec.at,
        }
        expect(received).to.deep.equal(expected)
      })
    }
  })

  describe('event', () => {
    it('contains the object with the served group version', () => {
      expect(read(createEncoder(servedNodes, objects).event('ADDED', inside(1)))).to.deep.equal({
        type: 'ADDED',
        object: {
          kind: 'Node',
          apiVersion: 'resources.kapis.io/v1alpha3',
          metadata: inside(1).meta,
          spec: { at: 1 },
        },
      })
    })

    it('contains its metadata', () => {
      expect(read(createEncoder(servedNodes, partials).event('MODIFIED', inside(1)))).to.deep.equal({
        type: 'MODIFIED',
        object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: inside(1).meta },
      })
    })

    it('contains a table of one row', () => {
      const { type, object } = read(createEncoder(servedNodes, tables).event('ADDED', inside(1)))
      expect(type).to.equal('ADDED')
      expect(object).to.deep.include({ kind: 'Table', metadata: { resourceVersion: '1' } })
      expect(object.rows).to.have.length(1)
      expect(object.rows[0].object.metadata).to.deep.equal(inside(1).meta)
    })

    it('sends the columns of a table only in the first event of a stream', () => {
      const encoder = createEncoder(servedNodes, tables)
      const columns = (event: Buffer | undefined) => read(event).object.columnDefinitions
      const once = openingOnce(encoder)
      expect(columns(once.event('ADDED', inside(2)))).to.deep.equal(servedNodes.kind.columns)
      expect(columns(once.event('ADDED', inside(1)))).to.equal(null)
      expect(columns(once.bookmark(3, false))).to.equal(null)
      expect(columns(openingOnce(encoder).bookmark(3, true))).to.deep.equal(servedNodes.kind.columns)
      expect(columns(encoder.event('ADDED', inside(1)))).to.equal(null)
      for (const shape of [objects, partials])
        expect(createEncoder(servedNodes, shape).opening).to.equal(undefined)
    })

    it('has one line, with any text in the object', () => {
      const odd = entry('n1', { annotations: { text: 'two\nlines\r\u2028' } })
      for (const shape of [objects, partials, tables])
        expect(read(createEncoder(servedNodes, shape).event('ADDED', odd)).type).to.equal('ADDED')
    })
  })

  describe('bookmark', () => {
    const metadata = { resourceVersion: '42', creationTimestamp: null }
    const ending = { ...metadata, annotations: { 'k8s.io/initial-events-end': 'true' } }
    const bookmark = (shape: Shape, ends: boolean) =>
      read(createEncoder(servedNodes, shape).bookmark(42, ends))

    for (const [ends, expected] of [
      [false, metadata],
      [true, ending],
    ] as const) {
      it(`has the kind of the stream${ends ? ', and ends the initial events' : ''}`, () => {
        expect(bookmark(objects, ends)).to.deep.equal({
          type: 'BOOKMARK',
          object: { kind: 'Node', apiVersion: 'resources.kapis.io/v1alpha3', metadata: expected },
        })
        expect(bookmark(partials, ends)).to.deep.equal({
          type: 'BOOKMARK',
          object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: expected },
        })
        const { object } = bookmark(tables, ends)
        expect(object).to.deep.include({ kind: 'Table', metadata: { resourceVersion: '42' } })
        expect(object.rows).to.have.length(1)
        expect(object.rows[0].object).to.deep.equal({
          kind: 'PartialObjectMetadata',
          apiVersion: 'meta.k8s.io/v1',
          metadata: expected,
        })
      })
    }
  })
})

describe('encodeError', () => {
  it('is always a Status', () => {
    expect(read(encodeError(expired('too old resource version: 1 (5)')))).to.deep.equal({
      type: 'ERROR',
      object: {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: 'too old resource version: 1 (5)',
        reason: 'Expired',
        code: 410,
      },
    })
  })
})
