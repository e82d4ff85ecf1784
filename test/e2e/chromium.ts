import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'

const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(path => existsSync(path))

export function startChromium(): Promise<Browser> {
  if (executablePath === undefined) throw new Error('Chromium not found: run hack/test-tools.sh')
  // The sandbox requires privileges that containers lack. Without it, only our own pages are
  // opened.
  const args = [
    ...['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
    // Pages of other products load fonts from the Internet, which would hang without access.
    '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1',
  ]
  return chromium.launch({ executablePath, args, timeout: 60_000 })
}

/**
 * Opens a browser window with its own cookies, without JavaScript unless a test enables it: the
 * pages must work without. Chromium does not know the CA of the control plane.
 */
export async function openWindow(browser: Browser, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({
    javaScriptEnabled: false,
    ignoreHTTPSErrors: true,
    ...options,
  })
  context.setDefaultTimeout(20_000)
  return context.newPage()
}

/** Saves a screenshot for people in the folder KAPIS_SCREENSHOTS, if that variable is set. */
export async function keepScreenshot(page: Page, name: string): Promise<void> {
  const folder = process.env.KAPIS_SCREENSHOTS
  if (!folder) return
  await mkdir(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
}
