import { expect } from 'chai'
import { ConfigError } from './config-error.ts'

describe('ConfigError', () => {
  it('has one line per problem in its message', () => {
    const error = new ConfigError([
      { path: 'a', message: 'x' },
      { path: 'b.c', message: 'y' },
    ])
    expect(error.message).to.equal('invalid configuration:\n  a: x\n  b.c: y')
  })
})
