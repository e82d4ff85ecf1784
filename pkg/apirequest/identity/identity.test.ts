import { expect } from 'chai'
import {
  anonymous,
  type Identity,
  isAnonymous,
  isSuperuser,
  splitServiceAccount,
  withAuthenticatedGroup,
} from './identity.ts'

const aggregator: Identity = { username: 'system:aggregator', uid: '', groups: [], extra: {} }

describe('withAuthenticatedGroup', () => {
  it('adds the group to a caller without groups', () => {
    expect(withAuthenticatedGroup(aggregator)).to.deep.equal({
      ...aggregator,
      groups: ['system:authenticated'],
    })
    expect(aggregator.groups).to.deep.equal([])
  })

  it('appends the group to the existing groups', () => {
    expect(withAuthenticatedGroup({ ...aggregator, groups: ['b', 'a'] }).groups).to.deep.equal([
      'b',
      'a',
      'system:authenticated',
    ])
  })

  it('adds the group only once', () => {
    const once = withAuthenticatedGroup(aggregator)
    expect(withAuthenticatedGroup(once)).to.equal(once)
  })

  it('does not add the group to the anonymous caller', () => {
    expect(withAuthenticatedGroup(anonymous).groups).to.deep.equal(['system:unauthenticated'])
    expect(withAuthenticatedGroup({ ...anonymous, groups: ['a'] }).groups).to.deep.equal([
      'a',
      'system:unauthenticated',
    ])
  })

  it('does not add the group to a caller in system:unauthenticated, as kube-apiserver does not', () => {
    const identity = { ...aggregator, groups: ['system:unauthenticated'] }
    expect(withAuthenticatedGroup(identity)).to.equal(identity)
  })
})

describe('the anonymous identity', () => {
  it('has the name of kube-apiserver and is frozen', () => {
    expect(isAnonymous(anonymous)).to.equal(true)
    expect(isAnonymous(aggregator)).to.equal(false)
    expect(Object.isFrozen(anonymous)).to.equal(true)
    expect(Object.isFrozen(anonymous.groups)).to.equal(true)
  })
})

describe('isSuperuser', () => {
  it('accepts members of system:masters, unless blanks may have been stripped from the name', () => {
    const groups = ['dev', 'system:masters']
    expect(isSuperuser({ ...aggregator, groups })).to.equal(true)
    expect(isSuperuser({ ...aggregator, groups, isTrimmed: true })).to.equal(false)
    expect(isSuperuser({ ...aggregator, groups: [' system:masters', 'system:master'] })).to.equal(false)
  })
})

describe('splitServiceAccount', () => {
  it('splits the user name of a service account', () => {
    expect(splitServiceAccount('system:serviceaccount:ns-1:a.b')).to.deep.equal({
      namespace: 'ns-1',
      name: 'a.b',
    })
  })

  for (const name of [
    'ns:a:b',
    'ns:',
    ':a',
    'NS:a',
    'n.s:a',
    'ns:A',
    'ns:a b',
    'ns:-a',
    `ns:${'a'.repeat(254)}`,
  ]) {
    it(`treats system:serviceaccount:${name.slice(0, 20)} as an ordinary user, as kube-apiserver does`, () => {
      expect(splitServiceAccount(`system:serviceaccount:${name}`)).to.equal(undefined)
    })
  }
})
