import { expect } from 'chai'
import { refusalOf } from '../status/fixtures.ts'
import { parseWatchQuery } from './watch-query.ts'

const parse = (text: string) => parseWatchQuery(new URLSearchParams(text))

describe('parseWatchQuery', () => {
  it('parts how to watch from what to watch', () => {
    const { watch, rest } = parse(
      'watch=true&resourceVersion=12&allowWatchBookmarks=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=30&name=web&fields=metadata.name',
    )
    expect(watch).to.deep.equal({
      resourceVersion: '12',
      allowWatchBookmarks: true,
      sendInitialEvents: true,
      timeoutSeconds: 30,
    })
    expect(rest.toString()).to.equal('name=web&fields=metadata.name')
  })

  it('begins with the present state and leaves the rest to the server', () => {
    expect(parse('watch=true').watch).to.deep.equal({
      resourceVersion: '',
      allowWatchBookmarks: false,
      sendInitialEvents: undefined,
      timeoutSeconds: 0,
    })
  })

  const refused: readonly [string, string][] = [
    ['page=2', 'page cannot be used with watch=true: a watch has no pages'],
    ['limit=10', 'limit cannot be used with watch=true: a watch has no pages'],
    ['sortBy=name', 'sortBy cannot be used with watch=true: a watch has no pages'],
    ['ascending=true', 'ascending cannot be used with watch=true: a watch has no pages'],
    ['resourceVersion=x', 'resourceVersion must be a whole number of at least 0, not "x"'],
    ['timeoutSeconds=-1', 'timeoutSeconds must be a whole number of at least 0, not "-1"'],
    ['allowWatchBookmarks=yes', 'allowWatchBookmarks must be true or false, not "yes"'],
  ]
  for (const [query, message] of refused) {
    it(`refuses ${query}`, () => {
      expect(refusalOf(() => parse(`watch=true&${query}`))).to.deep.equal({
        code: 400,
        reason: 'BadRequest',
        message,
      })
    })
  }
})
