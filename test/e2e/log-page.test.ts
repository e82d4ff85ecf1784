import { expect } from 'chai'
import type { Browser, Page } from 'playwright-core'
import { stringifyExactly } from '../../pkg/json/stringify.ts'
import { keepScreenshot, openWindow, startChromium } from './chromium.ts'
import { kubectl, kubectlOutput, makeNamespace, tokenOf, uniqueName } from './cluster.ts'
import { eventually, groupDomain, sendAs } from './http.ts'
import { logIn } from './login-page.ts'
import { createUser, removeUser } from './oauth.ts'
import { issuerUrl } from './oauth-clients.ts'

const password = 'Correct-Horse-1'
const hostile = `<script>document.title='owned'</script><img src=x onerror="document.title='owned'"> \u001b[31mred\u001b[0m \u202etxt`

describe('the log page in a browser', function () {
  this.timeout(120_000)
  const alice = uniqueName('alice')
  const mine = uniqueName('page')
  let browser: Browser
  let home = ''
  let shipper = ''

  async function send(log: string, pod = 'web-0', fields: object = {}): Promise<void> {
    const names = { namespace_name: mine, pod_name: pod, container_name: 'web', docker_id: `${mine}-${pod}` }
    const body = stringifyExactly({
      time: new Date().toISOString(),
      log: `${log}\n`,
      kubernetes: names,
      ...fields,
    })
    const path = `/kapis/logging.${groupDomain}/v1alpha2/ingest/jsonlines`
    expect((await sendAs(shipper, path, { method: 'POST', body })).code).to.equal(200)
  }

  before(async () => {
    await makeNamespace(mine, ['shipper'])
    const account = `--serviceaccount=${mine}:shipper`
    await kubectlOutput('create', 'clusterrolebinding', mine, '--clusterrole=kapis:log-shipper', account)
    await createUser({ username: alice, password })
    await kubectlOutput('-n', mine, 'create', 'rolebinding', alice, '--clusterrole=view', `--user=${alice}`)
    shipper = await tokenOf(mine, 'shipper')
    home = new URL('/logs', await issuerUrl()).href
    for (let i = 0; i < 3; i += 1) await send(`ordinary line ${i}`, `web-${i}`)
    await send(hostile)
    browser = await startChromium()
  })
  after(async () => {
    await browser?.close()
    await kubectl('delete', 'clusterrolebinding', mine)
    await kubectl('delete', 'namespace', mine, '--wait=false')
    await removeUser(alice)
  })
  afterEach(async () => {
    for (const context of browser?.contexts() ?? []) await context.close()
  })

  /** Opens the page, logs in, and waits for the lines of the namespace. */
  async function open(query: string, colorScheme: 'light' | 'dark' = 'light', width = 1200) {
    const viewport = { width, height: 800 }
    const page = await openWindow(browser, { javaScriptEnabled: true, colorScheme, viewport })
    const problems: string[] = []
    page.on('console', message => {
      if (['error', 'warning'].includes(message.type())) problems.push(message.text())
    })
    page.on('pageerror', error => problems.push(String(error)))
    await page.goto(`${home}?${query}`)
    await logIn(page, alice, password)
    await page.getByRole('searchbox', { name: 'Search' }).waitFor()
    return { page, problems }
  }

  const lines = (page: Page) => page.locator('#lines li .text').allTextContents()
  const untilLines = (page: Page, check: (texts: readonly string[]) => void) =>
    eventually(async () => check(await lines(page)), 20_000)

  it('logs in at the issuer, searches, and shows lines as text', async () => {
    const { page, problems } = await open(`namespaces=${mine}`)
    await untilLines(page, texts => expect(texts).to.have.length(4))
    const [first] = await lines(page)
    expect(first).to.equal(
      `<script>document.title='owned'</script><img src=x onerror="document.title='owned'"> red \ufffdtxt`,
    )
    expect(await page.title()).to.match(/^Logs – /)
    expect(await page.locator('#lines script, #lines img').count()).to.equal(0)
    await page.locator(`#namespaces option[value="${mine}"]`).waitFor({ state: 'attached' })
    // Scripts cannot read the token.
    const cookies = await page.context().cookies()
    const token = cookies.find(({ name }) => name === '__Secure-kapis-logs')
    expect([token?.httpOnly, token?.secure, token?.sameSite, token?.path]).to.deep.equal([
      true,
      true,
      'Strict',
      '/logs',
    ])
    expect(
      await page.evaluate('document.cookie + JSON.stringify({ ...localStorage, ...sessionStorage })'),
    ).to.equal('{}')
    await keepScreenshot(page, 'logs')
    await page.getByRole('searchbox', { name: 'Search' }).fill('ordinary NOT 1')
    await page.keyboard.press('Enter')
    await untilLines(page, texts => expect(texts).to.deep.equal(['ordinary line 2', 'ordinary line 0']))
    expect(new URL(page.url()).searchParams.get('q')).to.equal('ordinary NOT 1')
    await page.getByLabel('Pod', { exact: true }).fill('web-2')
    await page.getByRole('button', { name: 'Search' }).click()
    await untilLines(page, texts => expect(texts).to.deep.equal(['ordinary line 2']))
    await page.goBack()
    await untilLines(page, texts => expect(texts).to.have.length(2))
    expect(problems.filter(text => !text.includes('401'))).to.deep.equal([])
  })

  it('explains errors of a search', async () => {
    const { page } = await open(`namespaces=${mine}`)
    await page.getByRole('searchbox', { name: 'Search' }).fill('(a')
    await page.keyboard.press('Enter')
    const alert = page.getByRole('alert').filter({ visible: true })
    await alert.waitFor()
    expect(await alert.textContent()).to.equal('q: missing closing parenthesis (at position 1) (400)')
  })

  it('zooms in and out with the keyboard, follows, exports and logs out', async () => {
    const { page } = await open(`namespaces=${mine}&q=ordinary`)
    await untilLines(page, texts => expect(texts).to.have.length(3))
    await page.locator('#histogram button').first().focus()
    await page.keyboard.press('End')
    expect(await page.locator('#histogram button').last().getAttribute('tabindex')).to.equal('0')
    await page.keyboard.press('Home')
    await page.keyboard.press('Enter')
    await untilLines(page, texts => expect(texts).to.have.length(0))
    expect(await page.locator('#total').textContent()).to.equal('No lines were found.')
    await page.getByRole('button', { name: 'Zoom out' }).click()
    await untilLines(page, texts => expect(texts).to.have.length(3))
    // With bars of a minute and of a second: the selected range includes the whole last second of a
    // bar.
    for (const seconds of [60, 1]) {
      const bar = page
        .locator('#histogram button')
        .filter({ has: page.locator('i:not([style*="height: 0%"])') })
        .last()
      await eventually(async () => {
        const { start, end } = await bar.evaluate(({ dataset }) => ({
          start: dataset.start,
          end: dataset.end,
        }))
        expect(Number(end) - Number(start)).to.equal(seconds)
      }, 20_000)
      await bar.click()
      await untilLines(page, texts => expect(texts.length).to.be.within(1, 3))
    }
    const download = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Export' }).click()
    const text = Buffer.concat(await (await (await download).createReadStream()).toArray()).toString()
    expect(text).to.include(`${mine}/web-`)
    await page.getByRole('button', { name: 'Follow' }).click()
    await page.getByText('Following: new lines come first.').waitFor()
    await send('ordinary line that has come')
    await untilLines(page, texts => expect(texts[0]).to.equal('ordinary line that has come'))
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.waitForURL('**/oauth/session')
    const names = (await page.context().cookies()).map(({ name }) => name)
    expect(names).to.not.include('__Secure-kapis-logs')
  })

  it('zooms to a range of bars with the mouse, and back with a key', async () => {
    const { page } = await open(`namespaces=${mine}&q=ordinary&range=900`)
    await untilLines(page, texts => expect(texts.length).to.be.at.least(3))
    const bars = page.locator('#histogram button')
    const total = await bars.count()
    const times = async (index: number) =>
      bars.nth(index).evaluate(({ dataset }) => [Number(dataset.start), Number(dataset.end)])
    const middle = async (index: number) => {
      const box = await bars.nth(index).boundingBox()
      if (box === null) throw new Error('the bar is not shown')
      return [box.x + box.width / 2, box.y + box.height / 2] as const
    }
    // Selects the newest third from right to left, which contains the latest lines.
    const [right, left] = [total - 1, total - Math.ceil(total / 3)]
    const expected = [(await times(left))[0], (await times(right))[1]]
    await page.locator('#histogram').scrollIntoViewIfNeeded()
    await page.mouse.move(...(await middle(right)))
    await page.mouse.down()
    await page.mouse.move(...(await middle(left)), { steps: 5 })
    expect(await page.locator('#histogram button.chosen').count()).to.equal(right - left + 1)
    await page.mouse.up()
    await page.getByRole('button', { name: 'Zoom out' }).waitFor()
    const shown = await page.evaluate(
      "['from', 'to'].map(id => Date.parse(document.getElementById(id).value) / 1000)",
    )
    expect(shown).to.deep.equal(expected)
    expect(await page.locator('#histogram button.chosen').count()).to.equal(0)
    await untilLines(page, texts => expect(texts.length).to.be.at.least(3))
    await page.getByRole('button', { name: 'Zoom out' }).focus()
    await page.keyboard.press('Enter')
    await eventually(
      async () => expect(await page.getByLabel('Time', { exact: true }).inputValue()).to.equal('900'),
      20_000,
    )
  })

  it('shows the context of a line in its container, also with the keyboard', async () => {
    const pod = uniqueName('around')
    for (const log of ['first', 'second', 'needle', 'fourth', hostile]) await send(log, pod)
    await send('of another pod', 'web-9')
    const { page } = await open(`namespaces=${mine}&q=needle`)
    await untilLines(page, texts => expect(texts).to.deep.equal(['needle']))
    await page.locator('#lines summary').focus()
    await page.keyboard.press('Enter')
    const button = page.getByRole('button', { name: 'Context' })
    const around = page.getByRole('list', { name: 'The lines around it' })
    await button.focus()
    await page.keyboard.press('Enter')
    await eventually(
      async () =>
        expect(await around.locator('.said').allTextContents()).to.deep.equal([
          'first',
          'second',
          'needle',
          'fourth',
          `<script>document.title='owned'</script><img src=x onerror="document.title='owned'"> red \ufffdtxt`,
        ]),
      20_000,
    )
    expect(await around.locator('[aria-current]').textContent()).to.include('needle')
    expect(await button.getAttribute('aria-expanded')).to.equal('true')
    expect(await page.locator('#lines script, #lines img').count()).to.equal(0)
    await page.setViewportSize({ width: 360, height: 800 })
    expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(360)
    await keepScreenshot(page, 'logs-context')
    await button.click()
    expect([await around.count(), await button.getAttribute('aria-expanded')]).to.deep.equal([0, 'false'])
  })

  it('wraps lines, highlights matches, filters by fields and links to one line', async () => {
    const pod = uniqueName('many')
    for (let i = 0; i < 30; i += 1)
      await send(`payment ${i} declined ${'x'.repeat(i === 4 ? 8_000 : 1)}`, pod)
    const { page } = await open(`q=pay* NOT refused&pods=${pod}`, 'light', 1280)
    await page.setViewportSize({ width: 1280, height: 900 })
    await untilLines(page, texts => expect(texts).to.have.length(30))
    const rendered = await page.evaluate(
      "[...document.querySelectorAll('#lines > li')].filter(line => line.getBoundingClientRect().bottom <= innerHeight).length",
    )
    await keepScreenshot(page, 'logs-lines')
    expect(rendered).to.be.at.least(25)
    expect(await page.locator('#lines mark').first().textContent()).to.equal('payment')
    const [, expected] = await lines(page)
    await page.locator('#lines summary').nth(1).click()
    const href = await page.getByRole('link', { name: 'Link to this line' }).getAttribute('href')
    await page
      .getByRole('button', { name: `No lines with pod ${pod}` })
      .first()
      .click()
    await untilLines(page, texts => expect(texts).to.have.length(0))
    expect(new URL(page.url()).searchParams.get('q')).to.equal(`pay* NOT refused NOT pod:"${pod}"`)
    await page.goto(new URL(href ?? '', home).href)
    await eventually(
      async () =>
        expect(await page.locator('#lines [open] .text').allTextContents()).to.deep.equal([expected]),
      20_000,
    )
  })

  it('preserves integers that a number would round, also in filters', async () => {
    const pod = uniqueName('exact')
    await send('even', pod, { order: 9007199254740992n })
    await send('odd', pod, { order: 9007199254740993n })
    const { page } = await open(`pods=${pod}`, 'light', 1280)
    await untilLines(page, texts => expect(texts).to.deep.equal(['odd', 'even']))
    await page.getByRole('button', { name: 'Show order in a column' }).click()
    const cells = () => page.locator('#lines .column').allTextContents()
    expect(await cells()).to.deep.equal(['9007199254740993', '9007199254740992'])
    await page.getByRole('button', { name: 'Only lines with order 9007199254740993' }).first().click()
    await untilLines(page, texts => expect(texts).to.deep.equal(['odd']))
    await page.getByRole('button', { name: 'Follow' }).click()
    await eventually(async () => {
      await send('live', pod, { order: 9007199254740993n })
      expect((await cells())[0]).to.equal('9007199254740993')
    }, 20_000)
  })

  it('shows fields as columns and lines as patterns, which filter the search', async () => {
    const pod = uniqueName('shapes')
    const fields = { level: 'error', 'http.status': 503 }
    for (let i = 0; i < 12; i += 1) await send(`order ${i} failed after ${i * 7} ms`, pod, fields)
    await send('cart is empty', pod)
    const { page, problems } = await open(`pods=${pod}`, 'light', 1280)
    await untilLines(page, texts => expect(texts).to.have.length(13))
    await page.getByRole('button', { name: 'Show http.status in a column' }).click()
    const cells = () => page.locator('#lines .column').allTextContents()
    expect(await cells()).to.deep.equal(['', ...Array.from({ length: 12 }, () => '503')])
    await page.getByText('Patterns').click()
    const shapes = () => page.locator('#shapes li').allInnerTexts()
    await eventually(async () => {
      const [first = '', second = ''] = await shapes()
      expect([first, second].map(text => text.split(/\s+/).slice(0, -2).join(' '))).to.deep.equal([
        '12 order <*> failed after <*> ms',
        '1 cart is empty',
      ])
    }, 20_000)
    const { searchParams } = new URL(page.url())
    expect([searchParams.get('column'), searchParams.get('patterns')]).to.deep.equal(['http.status', 'true'])
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      for (const width of [1280, 360]) {
        await page.setViewportSize({ width, height: 900 })
        expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(width)
        await keepScreenshot(page, `logs-patterns-${width}-${colorScheme}`)
      }
    }
    await page.setViewportSize({ width: 1280, height: 900 })
    await page.getByRole('button', { name: 'No lines with the words of order' }).click()
    await untilLines(page, texts => expect(texts).to.deep.equal(['cart is empty']))
    await eventually(async () => expect(await shapes()).to.have.length(1), 20_000)
    await page.reload()
    await untilLines(page, texts => expect(texts).to.deep.equal(['cart is empty']))
    expect(await cells()).to.deep.equal([''])
    await page.getByRole('button', { name: 'Remove the column http.status' }).click()
    expect(await cells()).to.deep.equal([])
    expect(problems.filter(text => !text.includes('401'))).to.deep.equal([])
  })

  it('fits a screen of 360 pixels, light and dark, and has a label for every input', async () => {
    const grounds: string[] = []
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page } = await open(`namespaces=${mine}`, colorScheme, 360)
      await untilLines(page, texts => expect(texts).to.include('ordinary line 0'))
      expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(360)
      grounds.push(String(await page.evaluate('getComputedStyle(document.body).backgroundColor')))
      const unnamed = await page.evaluate(
        "[...document.querySelectorAll('input, select')].filter(({ labels }) => labels.length === 0).length",
      )
      expect(unnamed).to.equal(0)
      await keepScreenshot(page, `logs-360-${colorScheme}`)
      await page.context().close()
    }
    expect(grounds[0]).to.not.equal(grounds[1])
  })
})
