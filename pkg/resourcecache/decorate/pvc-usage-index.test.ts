import { expect } from 'chai'
import type { KubeObject } from '../../kubeclient/object/object.ts'
import { event } from '../fixtures.ts'
import { createPvcUsageIndex } from './pvc-usage-index.ts'

function pod(name: string, claims: readonly string[]): KubeObject {
  return {
    metadata: { name, namespace: 'ns', uid: name, resourceVersion: '1', creationTimestamp: '' },
    spec: { volumes: claims.map(claimName => ({ name: claimName, persistentVolumeClaim: { claimName } })) },
  }
}

describe('createPvcUsageIndex', () => {
  function make() {
    const notified: string[][] = []
    const index = createPvcUsageIndex(claims => notified.push([...claims].sort()))
    return { notified, ...index }
  }

  it('returns the claims in use, and notifies of changes', () => {
    const { notified, isMounted, handler } = make()
    handler.replace([pod('a', ['x', 'y']), pod('b', ['y']), pod('c', [])])
    expect(notified).to.deep.equal([['ns/x', 'ns/y']])
    expect([isMounted('ns/x'), isMounted('ns/y'), isMounted('ns/z'), isMounted('other/x')]).to.deep.equal([
      true,
      true,
      false,
      false,
    ])
    handler.apply([event('DELETED', pod('a', ['x', 'y']))])
    expect(notified.at(-1)).to.deep.equal(['ns/x'])
    handler.apply([event('MODIFIED', pod('b', ['y'])), event('ADDED', pod('c', []))])
    expect(notified).to.have.length(2)
    handler.apply([event('DELETED', pod('b', ['y']))])
    expect(notified.at(-1)).to.deep.equal(['ns/y'])
  })

  it('starts again with a new list', () => {
    const { notified, isMounted, handler } = make()
    handler.replace([pod('a', ['x'])])
    handler.replace([pod('b', ['y'])])
    expect(notified.at(-1)).to.deep.equal(['ns/x', 'ns/y'])
    expect([isMounted('ns/x'), isMounted('ns/y')]).to.deep.equal([false, true])
  })

  it('counts a claim once that one pod mounts twice', () => {
    const { isMounted, handler } = make()
    handler.replace([pod('a', ['x', 'x'])])
    handler.apply([event('DELETED', pod('a', ['x', 'x']))])
    expect(isMounted('ns/x')).to.equal(false)
  })
})
