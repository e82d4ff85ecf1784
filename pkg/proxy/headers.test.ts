import { expect } from 'chai'
import { forwardableHeaders, forwardableResponseHeaders } from './headers.ts'

const none: ReadonlySet<string> = new Set()

function forward(rawHeaders: string[], without = none): string[] {
  const at = rawHeaders.findIndex((name, i) => i % 2 === 0 && name.toLowerCase() === 'connection')
  const headers = at < 0 ? {} : { connection: rawHeaders[at + 1] ?? '' }
  return forwardableHeaders({ headers, rawHeaders }, without)
}

describe('forwardableHeaders', () => {
  it('preserves names, values, order and duplicates', () => {
    const lines = ['Accept', 'a/b', 'X-Custom', '1', 'accept', 'c/d', 'x-custom', '2']
    expect(forward(lines)).to.deep.equal(lines)
  })

  const dropped: readonly (readonly [why: string, names: readonly string[]])[] = [
    ['are hop-by-hop', ['Connection', 'Keep-Alive', 'TE', 'Trailer', 'Transfer-Encoding', 'Upgrade']],
    ['are hop-by-hop in old clients', ['Proxy-Connection', 'Proxy-Authorization', 'Proxy-Authenticate']],
    ['assert an identity', ['X-Remote-User', 'x-remote-group', 'X-REMOTE-EXTRA-Scopes', 'X-Remote-Uid']],
    [
      'assert an identity with _ instead of -',
      ['X_Remote_User', 'X-Remote_Group', 'impersonate_user', 'X_Forwarded_For', 'x_real_ip'],
    ],
    [
      'request impersonation',
      ['Impersonate-User', 'impersonate-group', 'Impersonate-Extra-a', 'Impersonate-Uid'],
    ],
    [
      'assert a client address',
      ['X-Forwarded-For', 'X-Forwarded-Proto', 'x-forwarded-host', 'Forwarded', 'X-Real-IP'],
    ],
    ['belong to Kapis', ['X-Kapis-Stripped']],
  ]
  for (const [why, names] of dropped) {
    for (const name of names) {
      it(`removes ${name}: names that ${why}`, () => {
        expect(forward(['Accept', 'a/b', name, 'close'])).to.deep.equal(['Accept', 'a/b'])
      })
    }
  }

  it('keeps a name that only has the same prefix', () => {
    const lines = ['Forwarded-By', 'x', 'X-Remote', 'y', 'Upgrade-Insecure-Requests', '1']
    expect(forward(lines)).to.deep.equal(lines)
  })

  it('removes the headers that the Connection header names', () => {
    expect(forward(['Connection', 'close, X-Hop', 'X-Hop', '1', 'X-Stays', '2'])).to.deep.equal([
      'X-Stays',
      '2',
    ])
  })

  it('does not let the Connection header remove a credential', () => {
    const lines = ['Connection', 'Authorization', 'Authorization', 'Bearer x']
    expect(forward(lines)).to.deep.equal(['Authorization', 'Bearer x'])
  })

  it('removes what the upstream server must not see', () => {
    const lines = ['Authorization', 'Bearer x', 'cookie', 'a=b', 'Accept', '*/*']
    expect(forward(lines, new Set(['authorization', 'cookie']))).to.deep.equal(['Accept', '*/*'])
  })
})

describe('forwardableResponseHeaders', () => {
  it('removes the hop-by-hop headers and preserves the others byte for byte', () => {
    const raw = [
      'Transfer-Encoding',
      'chunked',
      'Warning',
      '299 - "a"',
      'warning',
      '299 - "b"',
      'Connection',
      'x',
    ]
    expect(forwardableResponseHeaders(raw, none)).to.deep.equal([
      'Warning',
      '299 - "a"',
      'warning',
      '299 - "b"',
    ])
  })

  it('removes headers that Kapis sets itself', () => {
    expect(forwardableResponseHeaders(['Audit-Id', '1', 'Date', 'x'], new Set(['audit-id']))).to.deep.equal([
      'Date',
      'x',
    ])
  })
})
