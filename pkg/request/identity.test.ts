import { expect } from 'chai'
import { anonymous, type Identity, isAnonymous, withAuthenticatedGroup } from './identity.ts'

const aggregator: Identity = { username: 'system:aggregator', uid: '', groups: [], extra: {} }

describe('withAuthenticatedGroup', () => {
  it('adds the group to a caller without groups', () => {
    expect(withAuthenticatedGroup(aggregator)).to.deep.equal({
      ...aggregator,
      groups: ['system:authenticated'],
    })
    expect(aggregator.groups).to.deep.equal([])
  })

  it('adds it after the groups that are there', () => {
    expect(withAuthenticatedGroup({ ...aggregator, groups: ['b', 'a'] }).groups).to.deep.equal([
      'b',
      'a',
      'system:authenticated',
    ])
  })

  it('adds it once', () => {
    const once = withAuthenticatedGroup(aggregator)
    expect(withAuthenticatedGroup(once)).to.equal(once)
  })

  it('does not add it to the anonymous caller', () => {
    expect(withAuthenticatedGroup(anonymous).groups).to.deep.equal(['system:unauthenticated'])
  })
})

describe('anonymous', () => {
  it('is known by its name and cannot be changed', () => {
    expect(isAnonymous(anonymous)).to.equal(true)
    expect(isAnonymous(aggregator)).to.equal(false)
    expect(Object.isFrozen(anonymous)).to.equal(true)
    expect(Object.isFrozen(anonymous.groups)).to.equal(true)
  })
})
