import { expect } from 'chai'
import { type Cookie, clearCookie, fitsInCookie, readCookie, serializeCookie, setCookie } from './cookie.ts'

const ofHost: Cookie = { name: '__Host-kapis', sameSite: 'Lax' }
const ofPath: Cookie = { name: '__Secure-kapis', sameSite: 'Strict', path: '/logs' }

describe('readCookie', () => {
  const cases: readonly (readonly [header: string | undefined, value: string | undefined])[] = [
    [undefined, undefined],
    ['', undefined],
    ['__Host-kapis=a.b-c_d', 'a.b-c_d'],
    ['other=x; __Host-kapis=a', 'a'],
    ['other=x;__Host-kapis=a;', 'a'],
    [' \t__Host-kapis \t=\t a \t; x', 'a'],
    ['__Host-kapis=a=b==', 'a=b=='],
    // The quotes are part of the value.
    ['__Host-kapis="a"', '"a"'],
    ['__Host-kapis=%61', '%61'],
    ['__Host-kapis=', undefined],
    ['__Host-kapis', undefined],
    ['=__Host-kapis', undefined],
    ['=__Host-kapis=a', undefined],
    // Another site may have set one of them.
    ['__Host-kapis=a; __Host-kapis=b', undefined],
    ['__Host-kapis=a; __Host-kapis=', undefined],
    // Names are case-sensitive, and a value is never treated as a name.
    ['__host-kapis=a', undefined],
    ['x__Host-kapis=a', undefined],
    ['__Host-kapis-2=a', undefined],
    ['other=__Host-kapis=a', undefined],
    ['\u00a0__Host-kapis=a', undefined],
  ]
  for (const [cookie, value] of cases) {
    it(`returns ${value} from ${JSON.stringify(cookie)}`, () => {
      expect(readCookie({ headers: cookie === undefined ? {} : { cookie } }, ofHost)).to.equal(value)
    })
  }
})

describe('readCookie with a hostile header', () => {
  it('parses many blanks quickly', () => {
    const cookie = `x${' '.repeat(200_000)}x=1; __Host-kapis=a`
    const begin = performance.now()
    expect(readCookie({ headers: { cookie } }, ofHost)).to.equal('a')
    expect(performance.now() - begin).to.be.below(500)
  })
})

describe('serializeCookie', () => {
  const valid: readonly (readonly [string, string])[] = [
    [serializeCookie(ofHost, 'a.b'), '__Host-kapis=a.b; Path=/; Secure; HttpOnly; SameSite=Lax'],
    [
      serializeCookie(ofPath, 'a', 600),
      '__Secure-kapis=a; Path=/logs; Secure; HttpOnly; SameSite=Strict; Max-Age=600',
    ],
    [serializeCookie(ofHost, ''), '__Host-kapis=; Path=/; Secure; HttpOnly; SameSite=Lax'],
  ]
  for (const [written, expected] of valid) it(`writes ${expected}`, () => expect(written).to.equal(expected))

  for (const value of ['a;b', 'a b', 'a,b', '"a"', 'a\\b', 'a\r\nSet-Cookie: x=y', 'ä', '\u0000', '\u007f']) {
    it(`rejects the value ${JSON.stringify(value)}, without quoting it`, () => {
      expect(() => serializeCookie(ofHost, value)).to.throw(
        TypeError,
        /^invalid value of the cookie __Host-kapis$/,
      )
    })
  }

  const refused: readonly (readonly [string, Cookie, number | undefined, string])[] = [
    ['a name with a blank', { ...ofHost, name: '__Host-a b' }, 1, 'invalid cookie name "__Host-a b"'],
    ['a name with =', { ...ofHost, name: '__Host-a=b' }, 1, 'invalid cookie name "__Host-a=b"'],
    [
      'a path with a semicolon',
      { ...ofPath, path: '/logs; Domain=x' },
      1,
      'invalid path of the cookie __Secure-kapis: "/logs; Domain=x"',
    ],
    [
      'a path with the __Host- prefix',
      Object.assign({ ...ofHost }, { path: '/logs' as never }),
      1,
      'invalid path of the cookie __Host-kapis: "/logs"',
    ],
    ['a max-age that is not a number', ofHost, Number.NaN, 'invalid Max-Age of the cookie __Host-kapis: NaN'],
    ['a fraction', ofHost, 1.5, 'invalid Max-Age of the cookie __Host-kapis: 1.5'],
  ]
  for (const [what, cookie, age, message] of refused) {
    it(`rejects ${what}`, () => {
      expect(() => serializeCookie(cookie, 'a', age)).to.throw(TypeError, message)
    })
  }
})

describe('fitsInCookie', () => {
  it('adds up name, value and attributes', () => {
    const room = 4096 - serializeCookie(ofHost, '', 600).length
    expect(fitsInCookie(ofHost, 'a'.repeat(room), 600)).to.equal(true)
    expect(fitsInCookie(ofHost, 'a'.repeat(room + 1), 600)).to.equal(false)
  })
})

describe('setCookie and clearCookie', () => {
  it('append headers, and clear a cookie with the attributes with which it was set', () => {
    const headers: string[] = []
    const res = {
      appendHeader(name: string, value: string | readonly string[]) {
        headers.push(`${name}: ${value}`)
        return this as never
      },
    }
    setCookie(res, ofPath, 'a', 60)
    clearCookie(res, ofPath)
    expect(headers).to.deep.equal([
      'set-cookie: __Secure-kapis=a; Path=/logs; Secure; HttpOnly; SameSite=Strict; Max-Age=60',
      'set-cookie: __Secure-kapis=; Path=/logs; Secure; HttpOnly; SameSite=Strict; Max-Age=0',
    ])
  })
})
