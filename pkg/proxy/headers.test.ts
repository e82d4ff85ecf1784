import { expect } from 'chai'
import { answerHeaders, forwardableHeaders } from './headers.ts'

const none: ReadonlySet<string> = new Set()

function forward(rawHeaders: string[], without = none): string[] {
  const at = rawHeaders.findIndex((name, i) => i % 2 === 0 && name.toLowerCase() === 'connection')
  const headers = at < 0 ? {} : { connection: rawHeaders[at + 1] ?? '' }
  return forwardableHeaders({ headers, rawHeaders }, without)
}

describe('forwardableHeaders', () => {
  it('leaves names, values, order and repeats as they came', () => {
    const lines = ['Accept', 'a/b', 'X-Custom', '1', 'accept', 'c/d', 'x-custom', '2']
    expect(forward(lines)).to.deep.equal(lines)
  })

  const dropped: readonly (readonly [why: string, names: readonly string[]])[] = [
    ['belong to this hop', ['Connection', 'Keep-Alive', 'TE', 'Trailer', 'Transfer-Encoding', 'Upgrade']],
    ['belong to this hop, in old clients', ['Proxy-Connection', 'Proxy-Authorization', 'Proxy-Authenticate']],
    ['claim an identity', ['X-Remote-User', 'x-remote-group', 'X-REMOTE-EXTRA-Scopes', 'X-Remote-Uid']],
    [
      'claim one where _ is -',
      ['X_Remote_User', 'X-Remote_Group', 'impersonate_user', 'X_Forwarded_For', 'x_real_ip'],
    ],
    [
      'ask for another identity',
      ['Impersonate-User', 'impersonate-group', 'Impersonate-Extra-a', 'Impersonate-Uid'],
    ],
    [
      'claim an address',
      ['X-Forwarded-For', 'X-Forwarded-Proto', 'x-forwarded-host', 'Forwarded', 'X-Real-IP'],
    ],
    ['are of Kapis', ['X-Kapis-Stripped']],
  ]
  for (const [why, names] of dropped) {
    for (const name of names) {
      it(`drops ${name}: names that ${why}`, () => {
        expect(forward(['Accept', 'a/b', name, 'close'])).to.deep.equal(['Accept', 'a/b'])
      })
    }
  }

  it('keeps a name that only begins like one of those', () => {
    const lines = ['Forwarded-By', 'x', 'X-Remote', 'y', 'Upgrade-Insecure-Requests', '1']
    expect(forward(lines)).to.deep.equal(lines)
  })

  it('drops what the Connection header names', () => {
    expect(forward(['Connection', 'close, X-Hop', 'X-Hop', '1', 'X-Stays', '2'])).to.deep.equal([
      'X-Stays',
      '2',
    ])
  })

  it('does not let the Connection header take a credential away', () => {
    const lines = ['Connection', 'Authorization', 'Authorization', 'Bearer x']
    expect(forward(lines)).to.deep.equal(['Authorization', 'Bearer x'])
  })

  it('drops what the next hop must not see', () => {
    const lines = ['Authorization', 'Bearer x', 'cookie', 'a=b', 'Accept', '*/*']
    expect(forward(lines, new Set(['authorization', 'cookie']))).to.deep.equal(['Accept', '*/*'])
  })
})

describe('answerHeaders', () => {
  it('drops the headers of the other hop and leaves the rest byte for byte', () => {
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
    expect(answerHeaders(raw, none)).to.deep.equal(['Warning', '299 - "a"', 'warning', '299 - "b"'])
  })

  it('drops the names that someone else has set', () => {
    expect(answerHeaders(['Audit-Id', '1', 'Date', 'x'], new Set(['audit-id']))).to.deep.equal(['Date', 'x'])
  })
})
