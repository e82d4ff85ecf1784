import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import type { Browser, Page, Request } from 'playwright-core'
import { openWindow } from '../e2e/chromium.ts'

/** A browser with a console to which one user is logged in, and checks of its requests. */
export type Console = {
  readonly page: Page
  /** Opens a path of the console and waits until it has loaded. */
  readonly visit: (path: string) => Promise<void>
  /** Opens the path of a terminal, and waits for a message of the server. */
  readonly open: (path: string, message: RegExp) => Promise<Terminal>
  /** Waits until no request is in progress. */
  readonly settle: () => Promise<void>
  /**
   * Takes a screenshot, and checks that no request and no script has failed since the last call.
   */
  readonly check: (name: string) => Promise<void>
  readonly close: () => Promise<void>
}

/** A terminal; `type` types a text, and waits for a message of the server. */
export type Terminal = { readonly type: (text: string, message: RegExp) => Promise<void> }

const folder = process.env.KAPIS_SCREENSHOTS || '.run/console'

/** APIs of KubeSphere for which Kapis returns 404, see docs/migration.md. */
const outOfScope =
  /^\/kapis\/tenant\.kubesphere\.io\/v1alpha2\/workspaces\/[^/]+\/resourcequotas|^\/k?apis\/(monitoring|alerting|metering|gateway|devops|gitops|notification|network|servicemesh|edgeruntime|openpitrix|app\.k8s|snapshot\.storage\.k8s|storage)\b/

/** The requests of the browser with their counts, for the table in docs/console.md. */
const requests = new Map<string, number>()

export async function logIn(
  browser: Browser,
  url: string,
  login: { readonly username: string; readonly password: string },
): Promise<Console> {
  const page = await openWindow(browser, { javaScriptEnabled: true, viewport: { width: 1440, height: 900 } })
  const failures: string[] = []
  // For redirected or failed requests, the console rejects promises with values that are not an
  // Error. Only messages with a space are errors of scripts.
  page.on('pageerror', error => {
    if (error.message.includes(' ')) failures.push(`script: ${error.message}`)
  })
  page.on('response', async response => {
    const { pathname, search } = new URL(response.url())
    const method = response.request().method()
    if (!/^\/k?apis?\//.test(pathname)) return
    requests.set(`${method} ${pathname}${search}`, response.status())
    if (response.status() < 400 || outOfScope.test(pathname)) return
    const body = await response.text().catch(() => '')
    failures.push(`${method} ${pathname}${search}: ${response.status()} ${body.slice(0, 300)}`)
  })
  const quiet = waiterOf(page)
  const settle = async () => {
    await quiet()
    // A string, since this program does not include the types of a browser.
    await page.waitForFunction("document.querySelector('.svg-loading') === null")
    await quiet()
  }
  await page.goto(`${url}/login`)
  await page.fill('input[name=username]', login.username)
  await page.fill('input[name=password]', login.password)
  await page.click('button[type=submit]')
  await page.waitForURL(({ pathname }) => pathname !== '/login', { timeout: 60_000 })
  await settle()
  return {
    page,
    settle,
    async visit(path) {
      // Navigates without reloading, like links of the console: loading all scripts for each page
      // takes long.
      await page.evaluate(
        `history.pushState({}, '', ${JSON.stringify(path)}); dispatchEvent(new PopStateEvent('popstate', { state: {} }))`,
      )
      await settle()
    },
    async open(path, message) {
      let received = ''
      // Like the console, opens the terminal in a separate window.
      const window = await page.context().newPage()
      window.on('websocket', socket => {
        socket.on('framereceived', ({ payload }) => {
          received += String(payload)
        })
      })
      const until = async (expected: RegExp) => {
        for (const deadline = Date.now() + 60_000; !expected.test(received); await window.waitForTimeout(100))
          if (Date.now() > deadline) throw new Error(`no ${expected} in ${received}`)
      }
      await window.goto(`${url}${path}`)
      await until(message)
      return {
        async type(text, expected) {
          await window.locator('.xterm').click()
          await window.keyboard.type(text)
          await until(expected)
          mkdirSync(folder, { recursive: true })
          await window.screenshot({ path: join(folder, 'terminal.png') })
        },
      }
    },
    async check(name) {
      await settle()
      mkdirSync(folder, { recursive: true })
      await page.screenshot({ path: join(folder, `${name}.png`) })
      writeFileSync(join(folder, 'requests.txt'), requestLines())
      expect(failures.splice(0)).to.deep.equal([])
    },
    close: () => page.context().close(),
  }
}

/**
 * Returns a function that waits until no request has been in progress for half a second. Pages
 * change without loading a document, which the load states of Playwright do not detect.
 */
function waiterOf(page: Page): () => Promise<void> {
  const open = new Set<Request>()
  page.on('request', request => {
    // Watches and logs that are followed are not waited for.
    if (!/[?&](watch|follow)=true/.test(request.url())) open.add(request)
  })
  const close = (request: Request) => void open.delete(request)
  page.on('requestfinished', close)
  page.on('requestfailed', close)
  return async () => {
    const deadline = Date.now() + 60_000
    for (let calm = 0; calm < 5; calm++) {
      await page.waitForTimeout(100)
      if (open.size > 0) calm = -1
      if (Date.now() > deadline)
        throw new Error(`still in progress: ${[...open].map(request => request.url()).join(', ')}`)
    }
  }
}

function requestLines(): string {
  const lines = [...requests].map(([request, status]) => `${status} ${decodeURIComponent(request)}`)
  return `${lines.sort().join('\n')}\n`
}
