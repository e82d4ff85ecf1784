import { expect } from 'chai'
import type { CachedObject } from '../store/cached-object.ts'
import type { WatchChange } from '../store/watch-window.ts'
import { createClassUsage } from './class-usage.ts'

const entry = (storageClassName?: string) =>
  ({ fields: { status: '', cells: [], values: { storageClassName } } }) as unknown as CachedObject
const change = (type: WatchChange['type'], of: CachedObject, old?: CachedObject): WatchChange => ({
  version: 1,
  type,
  entry: of,
  old,
})

describe('createClassUsage', () => {
  it('counts objects by class, and names the classes whose count changes', () => {
    const touched: string[][] = []
    const usage = createClassUsage('storageClassName', names => touched.push([...names]))
    const counts = () => ['fast', 'slow', ''].map(usage.of)
    usage.replace([entry('fast'), entry('fast'), entry(''), entry()])
    expect(counts()).to.deep.equal([2, 0, 0])
    usage.apply([change('ADDED', entry('slow')), change('DELETED', entry('fast'), entry('fast'))])
    expect(counts()).to.deep.equal([1, 1, 0])
    usage.apply([change('MODIFIED', entry('slow'), entry('fast')), change('ADDED', entry(''))])
    expect(counts()).to.deep.equal([0, 2, 0])
    usage.apply([change('ADDED', entry(''))])
    usage.replace([])
    expect(counts()).to.deep.equal([0, 0, 0])
    expect(touched).to.deep.equal([['fast'], ['slow', 'fast'], ['fast', 'slow'], ['slow']])
  })
})
