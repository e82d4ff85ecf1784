import { expect } from 'chai'
import { thrownFields } from '../../apierrors/fixtures.ts'
import { parseLine } from '../request-line.ts'
import { QueryParameters } from './query-parameters.ts'
import { isPageWatch, parseListVersion, parsePageWatchQuery, parseWatchQuery } from './watch-query.ts'

const parse = (text: string) => parseWatchQuery(new QueryParameters(text))

describe('parseWatchQuery', () => {
  it('parses the parameters of a watch', () => {
    const watch = parse(
      'watch=true&resourceVersion=12&allowWatchBookmarks=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=30&name=web&fields=metadata.name',
    )
    expect(watch).to.deep.equal({
      resourceVersion: '12',
      match: 'NotOlderThan',
      allowWatchBookmarks: true,
      sendInitialEvents: true,
      timeoutSeconds: 30,
    })
  })

  it('starts with the current state and leaves other options to the server by default', () => {
    expect(parse('watch=true')).to.deep.equal({
      resourceVersion: '',
      match: '',
      allowWatchBookmarks: false,
      sendInitialEvents: undefined,
      timeoutSeconds: 0,
    })
  })

  const refused: readonly [string, string][] = [
    [
      'resourceVersion=x',
      'Invalid value: "x": resourceVersion must be a decimal integer without leading zeros',
    ],
    ['sendInitialEvents=maybe', 'sendInitialEvents must be true or false, not "maybe"'],
    ['timeoutSeconds=-1', 'timeoutSeconds must be a whole number of at least 0, not "-1"'],
    ['allowWatchBookmarks=yes', 'allowWatchBookmarks must be true or false, not "yes"'],
  ]
  for (const [query, message] of refused) {
    it(`rejects ${query}`, () => {
      expect(thrownFields(() => parse(`watch=true&${query}`))).to.deep.equal({
        code: 400,
        reason: 'BadRequest',
        message,
      })
    })
  }
})

describe('parsePageWatchQuery', () => {
  const parsePage = (text: string) => parsePageWatchQuery(new QueryParameters(`watch=true&${text}`))
  const isOfPage = (text: string) => isPageWatch(parseLine('GET', `/kapi/v1/pods?${text}`))

  for (const text of ['page=2', 'limit=10', 'sortBy=name', 'ascending=true'])
    it(`returns a query for a watch with ${text}`, () => {
      expect(isOfPage(`watch=true&${text}`)).to.equal(true)
    })

  it('returns nothing for a watch without paging', () => {
    expect(isOfPage('watch=true&limit=&name=web')).to.equal(false)
    expect(isOfPage('limit=3')).to.equal(false)
  })

  it('parses the timeout and bookmarks', () => {
    expect(parsePage('limit=1')).to.deep.equal({ allowWatchBookmarks: false, timeoutMs: 3_600_000 })
    expect(parsePage('limit=1&timeoutSeconds=5&allowWatchBookmarks=true')).to.deep.equal({
      allowWatchBookmarks: true,
      timeoutMs: 5_000,
    })
    expect(parsePage('limit=1&timeoutSeconds=99999999')).to.have.property('timeoutMs', 2 ** 31 - 1)
  })

  const which = 'cannot be used with a watch of a page, which begins with the newest state'
  const refused: readonly [string, string][] = [
    ['limit=1&resourceVersion=7', `resourceVersion ${which}`],
    ['limit=1&sendInitialEvents=true', `sendInitialEvents ${which}`],
    ['limit=1&resourceVersionMatch=Exact', `resourceVersionMatch ${which}`],
    ['limit=1&timeoutSeconds=x', 'timeoutSeconds must be a whole number of at least 0, not "x"'],
  ]
  for (const [query, message] of refused)
    it(`rejects ${query}`, () => {
      expect(thrownFields(() => parsePage(query))).to.deep.equal({ code: 400, reason: 'BadRequest', message })
    })
})

describe('parseListVersion', () => {
  const parseList = (text: string) => parseListVersion(new QueryParameters(text))
  const newest = { resourceVersion: '', match: '' }

  it('returns the latest version unless the query has another', () => {
    expect(parseList('name=web&limit=10')).to.deep.equal(newest)
    expect(parseList('resourceVersion=7&resourceVersionMatch=Exact&name=web')).to.deep.equal({
      resourceVersion: '7',
      match: 'Exact',
    })
  })
  it('validates watch parameters, and then ignores them', () => {
    expect(parseList('watch=false&allowWatchBookmarks=true&timeoutSeconds=5&page=2')).to.deep.equal(newest)
  })

  const refused: readonly [string, number, string][] = [
    ['resourceVersionMatch=Exact', 422, 'is forbidden unless resourceVersion is provided'],
    ['sendInitialEvents=true', 422, 'sendInitialEvents is forbidden for list'],
    ['timeoutSeconds=soon', 400, 'timeoutSeconds must be a whole number of at least 0, not "soon"'],
    ['allowWatchBookmarks=yes', 400, 'allowWatchBookmarks must be true or false, not "yes"'],
  ]
  for (const [query, code, message] of refused) {
    it(`rejects ${query}`, () => {
      const rejection = thrownFields(() => parseList(query))
      expect(rejection).to.include({ code })
      expect(rejection.message).to.include(message)
    })
  }
})
