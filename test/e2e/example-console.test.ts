import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { expect } from 'chai'
import type { Browser, Page } from 'playwright-core'
import { portOf } from '../../pkg/apirequest/fixtures.ts'
import { keepScreenshot, openWindow, startChromium } from './chromium.ts'
import { accessToken, group, kubectl, kubectlOutput, makeNamespace, uniqueName } from './cluster.ts'
import { apply } from './http.ts'
import { setting } from './run.ts'

const namespace = uniqueName('example')
const html = readFileSync(new URL('../../examples/console/index.html', import.meta.url))

describe('the example console in a browser', function () {
  this.timeout(90_000)
  // The page is served by HTTP: Chromium asks the user before a page from a file connects to this
  // machine.
  const server = createServer((_req, res) => res.setHeader('content-type', 'text/html').end(html))
  let browser: Browser
  let page: Page

  const rows = () => page.locator('#rows tr').allInnerTexts()
  const namesOf = async () => (await rows()).map(row => row.split('\t')[1])
  const state = (text: string) => page.locator('#state', { hasText: text }).waitFor()
  const makeConfig = (name: string) =>
    apply({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: `${namespace}-${name}`, namespace, labels: { in: namespace } },
    })

  before(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening')
    await makeNamespace(namespace, [])
    await makeConfig('b')
    browser = await startChromium()
    page = await openWindow(browser, { javaScriptEnabled: true })
  })
  after(async () => {
    await browser?.close()
    server.close()
    await kubectl('delete', 'namespace', namespace, '--wait=false')
  })

  it('shows a page of a list, and its changes', async () => {
    // Once a page with the unknown certificate has been opened, Chromium accepts it for WebSockets
    // too.
    await page.goto(`${setting('KAPIS_URL')}/livez`)
    await page.goto(`http://127.0.0.1:${portOf(server)}/`)
    await page.getByLabel('Kind').selectOption('configmaps')
    await page.getByLabel('Search').fill(`${namespace}-`)
    await page.getByLabel('Server').fill(setting('KAPIS_URL'))
    await page.getByLabel('Token').fill(await accessToken())
    await page.getByLabel('Group domain').fill(group.slice('resources.'.length))
    await page.getByRole('button', { name: 'Connect' }).click()
    await state('1 in all')
    expect(await namesOf()).to.deep.equal([`${namespace}-b`])
    await makeConfig('a')
    await state('2 in all')
    expect(await namesOf()).to.deep.equal([`${namespace}-a`, `${namespace}-b`])
    await keepScreenshot(page, 'example-console')
    await kubectlOutput('delete', 'configmap', `${namespace}-b`, '-n', namespace)
    await state('1 in all')
    expect(await namesOf()).to.deep.equal([`${namespace}-a`])
  })

  it('shows another kind over the same connection', async () => {
    await page.getByLabel('Kind').selectOption('namespaces')
    await page.getByLabel('Search').fill(namespace)
    await page.getByRole('button', { name: 'Show' }).click()
    // The rows of the ConfigMaps are shown until the response arrives, and contain the namespace
    // too.
    await page.locator('#rows td:nth-child(2)', { hasText: new RegExp(`^${namespace}$`) }).waitFor()
    expect(await namesOf()).to.deep.equal([namespace])
  })

  it('shows the message of an error', async () => {
    await page.getByLabel('Kind').evaluate(select => {
      const option = select.querySelector('option')
      if (option !== null) option.value = 'unicorns'
    })
    await page.getByLabel('Kind').selectOption('unicorns')
    await page.getByRole('button', { name: 'Show' }).click()
    await state('resource "unicorns" is not supported')
  })
})
