import { expect } from 'chai'
import type { Browser } from 'playwright-core'
import { keepScreenshot, openWindow, startChromium } from './chromium.ts'
import { sendToKapis } from './cluster.ts'
import { groupDomain } from './http.ts'
import { setting } from './run.ts'

// A string, since this program does not include the types of a browser.
const widthOfPage = 'document.documentElement.scrollWidth'
const background = 'getComputedStyle(document.body).backgroundColor'
const url = () => `${setting('KAPIS_URL')}/docs`

describe('the page /docs in a browser', function () {
  this.timeout(120_000)
  let browser: Browser
  before(async () => {
    browser = await startChromium()
  })
  after(() => browser.close())

  it('is public, and loads nothing from other origins', async () => {
    const { code, headers, body } = await sendToKapis('/docs')
    expect([code, headers['content-type']]).to.deep.equal([200, 'text/html; charset=utf-8'])
    expect(headers['content-security-policy']).to.match(
      /^default-src 'none'; style-src 'self'; script-src 'self';/,
    )
    expect(body).to.not.match(/(src|href)="(https?:|\/\/)/)
    expect(body).to.not.match(/<script(?! src="\/docs\/)|<style| on[a-z]+="| style="/)
  })

  it('can be searched with the keyboard only', async () => {
    const page = await openWindow(browser, { javaScriptEnabled: true })
    const problems: string[] = []
    page.on('console', message => void (message.type() === 'error' && problems.push(message.text())))
    page.on('pageerror', error => problems.push(error.message))
    await page.goto(url())
    await page.keyboard.press('Tab')
    expect(await page.locator(':focus').textContent()).to.equal('To the reference')
    await page.keyboard.press('/')
    await page.keyboard.type('password currentpassword')
    const shown = page.locator('details:visible')
    await page.waitForFunction('/^1 of \\d+ operations$/.test(document.getElementById("found").textContent)')
    expect(await shown.count()).to.equal(1)
    expect(await shown.locator('summary code').textContent()).to.equal(
      `/kapis/iam.${groupDomain}/v1alpha2/users/{user}/password`,
    )
    await shown.locator('summary').focus()
    await page.keyboard.press('Enter')
    expect(await shown.getAttribute('open')).to.equal('')
    expect(await shown.locator('pre').textContent()).to.include('curl --cacert "$KAPIS_CA" -X PUT')
    expect(problems).to.deep.equal([])
    await keepScreenshot(page, 'docs-search')
  })

  it('is complete without JavaScript', async () => {
    const page = await openWindow(browser)
    await page.goto(url())
    expect(await page.getByLabel('Search').isVisible()).to.equal(false)
    expect(await page.locator('details:visible').count()).to.be.greaterThan(60)
  })

  it('opens the operation that a link names', async () => {
    const page = await openWindow(browser, { javaScriptEnabled: true })
    await page.goto(`${url()}#postOauthToken`)
    await page.locator('#postOauthToken[open]').waitFor()
  })

  it('fits a screen of 360 pixels, light and dark', async () => {
    const colours: unknown[] = []
    for (const colorScheme of ['light', 'dark'] as const) {
      const viewport = { width: 360, height: 740 }
      const page = await openWindow(browser, { viewport, colorScheme, javaScriptEnabled: true })
      await page.goto(`${url()}#postOauthToken`)
      await page.locator('#postOauthToken[open]').waitFor()
      expect(await page.evaluate(widthOfPage)).to.be.at.most(360)
      colours.push(await page.evaluate(background))
      await keepScreenshot(page, `docs-${colorScheme}`)
    }
    expect(new Set(colours).size).to.equal(2)
  })
})
