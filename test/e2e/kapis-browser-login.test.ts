import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import type { Browser } from 'playwright-core'
import { openWindow, startChromium } from './chromium.ts'
import { uniqueName } from './cluster.ts'
import { eventually } from './http.ts'
import { createPerson, type KapisUser } from './kapis.ts'
import { createUser, loginAs, removeUser } from './oauth.ts'

const username = uniqueName('cli-browser')
const password = 'Correct horse 1'

describe('kapis login with a browser', function () {
  this.timeout(90_000)
  let browser: Browser

  before(async () => {
    await createUser({ username, password })
    await loginAs({ username, password })
    browser = await startChromium()
  })
  after(async () => {
    await browser?.close()
    await removeUser(username)
  })

  /** Starts `kapis login` with a browser program that only writes the address to a file. */
  async function begin(person: KapisUser) {
    const file = join(person.home, 'address')
    const opener = join(person.home, 'open')
    writeFileSync(opener, `#!/bin/sh\nprintf %s "$1" > '${file}.new' && mv '${file}.new' '${file}'\n`, {
      mode: 0o755,
    })
    const ended = person.kapis(['login'], { env: { BROWSER: opener }, timeoutMs: 80_000 })
    await eventually(async () => expectTrue(existsSync(file)), 10_000)
    return { ended, address: readFileSync(file, 'utf8') }
  }
  async function logIn(address: string) {
    const page = await openWindow(browser)
    await page.goto(address)
    await page.fill('#username', username)
    await page.fill('#password', password)
    await page.click('form button')
    return page
  }

  it('uses code and PKCE with a loopback port, and kubectl can then authenticate', async () => {
    const person = createPerson('browser')
    const { ended, address } = await begin(person)
    const { searchParams } = new URL(address)
    expect(searchParams.get('code_challenge_method')).to.equal('S256')
    expect(searchParams.get('redirect_uri')).to.match(/^http:\/\/127\.0\.0\.1:\d+\/callback$/)
    const page = await logIn(address)
    await page.click('button[value=allow]')
    await page.waitForSelector('text=You are logged in')
    const ran = await ended
    expect(ran.code, ran.stderr).to.equal(0)
    const who = await person.kubectl('auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}')
    expect(who.stdout, who.stderr).to.equal(username)
    // A public client can refresh and end its logins too.
    const login = JSON.parse(readFileSync(person.loginFile(), 'utf8'))
    expect(login).to.include({ clientId: 'kapis-cli', clientSecret: '' })
    writeFileSync(person.loginFile(), JSON.stringify({ ...login, expiresAtMs: 0 }))
    expect((await person.kapis(['whoami'])).stdout).to.match(new RegExp(`^${username}\n`))
    expect((await person.kapis(['logout'])).code).to.equal(0)
  })

  it('reports that the user denied the login', async () => {
    const { ended, address } = await begin(createPerson('refused'))
    const page = await logIn(address)
    await page.click('button[value=deny]')
    await page.waitForSelector('text=Login failed')
    const ran = await ended
    expect([ran.code, ran.stdout]).to.deep.equal([1, ''])
    expect(ran.stderr).to.match(/kapis login: the login failed: /)
  })

  it('accepts a code only from the issuer', async () => {
    const { ended, address } = await begin(createPerson('forged'))
    const redirect = new URL(new URL(address).searchParams.get('redirect_uri') ?? '')
    for (const query of ['code=forged', 'code=forged&state=forged', 'error=access_denied&state=']) {
      const response = await fetch(`${redirect}?${query}`)
      expect(response.status).to.equal(404)
    }
    const page = await logIn(address)
    await page.click('button[value=allow]')
    await page.waitForSelector('text=You are logged in')
    expect((await ended).code).to.equal(0)
  })
})

describe('kapis login --device', function () {
  this.timeout(90_000)
  const device = uniqueName('cli-device')
  let browser: Browser

  before(async () => {
    await createUser({ username: device, password })
    await loginAs({ username: device, password })
    browser = await startChromium()
  })
  after(async () => {
    await browser?.close()
    await removeUser(device)
  })

  it('uses a code that the user enters in any browser', async () => {
    const person = createPerson('device')
    const began = person.begin(['login', '--device'])
    const said = await began.said(/^Open (\S+) in a browser and enter the code (\S+)$/m)
    const [, address = '', code = ''] = said
    const page = await openWindow(browser)
    await page.goto(address)
    await page.fill('#username', device)
    await page.fill('#password', password)
    await page.click('form button')
    await page.fill('#user-code', code)
    await page.click('form button')
    await page.waitForSelector(`text=${code}`)
    await page.click('button[value=allow]')
    const ran = await began.ended
    expect(ran.code, ran.stderr).to.equal(0)
    const who = await person.kubectl('auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}')
    expect(who.stdout, who.stderr).to.equal(device)
  })
})

function expectTrue(value: boolean): void {
  expect(value).to.equal(true)
}
