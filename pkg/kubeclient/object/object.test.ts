import { expect } from 'chai'
import { isKubeObject, isRecord, parseList, parseObject } from './object.ts'

const good = { metadata: { name: 'a', resourceVersion: '1' } }

describe('parseObject', () => {
  it('returns an object unchanged', () => {
    expect(parseObject(good)).to.equal(good)
    expect(isKubeObject(good)).to.equal(true)
  })

  const bad: readonly unknown[] = [
    undefined,
    null,
    'text',
    [],
    [good],
    {},
    { metadata: null },
    { metadata: [] },
    { metadata: { name: 'a' } },
    { metadata: { resourceVersion: '1' } },
    { metadata: { name: 'a', resourceVersion: 1 } },
    { metadata: { name: 7, resourceVersion: '1' } },
  ]
  for (const value of bad) {
    it(`rejects ${JSON.stringify(value)}`, () => {
      expect(isKubeObject(value)).to.equal(false)
      expect(() => parseObject(value)).to.throw('kube-apiserver returned a response that is not an object')
    })
  }
})

describe('parseList', () => {
  for (const items of [[], [good], null]) {
    it(`returns a list of ${JSON.stringify(items)} unchanged`, () => {
      const list = { kind: 'NodeList', apiVersion: 'v1', metadata: { resourceVersion: '1' }, items }
      expect(parseList(list)).to.equal(list)
    })
  }

  const bad: readonly unknown[] = [
    null,
    [],
    {},
    { metadata: {}, items: [] },
    { metadata: { resourceVersion: 1 }, items: [] },
    { metadata: { resourceVersion: '1' } },
    { metadata: { resourceVersion: '1' }, items: {} },
    { metadata: { resourceVersion: '1' }, items: [good, {}] },
  ]
  for (const value of bad) {
    it(`rejects ${JSON.stringify(value)}`, () => {
      expect(() => parseList(value)).to.throw('kube-apiserver returned a response that is not a list')
    })
  }
})

describe('isRecord', () => {
  it('accepts objects that are not arrays', () => {
    expect([{}, [], null, undefined, 'x', 1].map(isRecord)).to.deep.equal([
      true,
      false,
      false,
      false,
      false,
      false,
    ])
  })
})
