import type { RequestHandler, Response } from 'express'
import { readAsset } from '../../httpserver/response/asset.ts'
import { sendDocument } from '../../httpserver/response/document.ts'
import { type Html, html } from '../../httpserver/response/html-template.ts'

const style = readAsset(new URL('./style.css', import.meta.url), '/oauth/style.css')
const scripts = {
  'show-password': readAsset(new URL('./show-password.js', import.meta.url), '/oauth/show-password.js'),
  passkey: readAsset(new URL('./passkey.js', import.meta.url), '/oauth/passkey.js'),
}

export type Page = {
  readonly title: string
  /** The name of the platform, from the configuration. */
  readonly product: string
  readonly body: Html
  readonly code?: number
  /** Additional form targets for the CSP, whose form-action also applies to redirects. */
  readonly formTargets?: readonly string[]
  /** The script that the page loads; pages without one allow none in their CSP. */
  readonly script?: keyof typeof scripts | undefined
}

/** Writes an uncached page. Its CSP allows only styles and scripts of Kapis, no frames. */
export function sendPage(res: Response, page: Page): void {
  const { code = 200, formTargets = [], script } = page
  res.set({
    'content-security-policy': [
      "default-src 'none'",
      "style-src 'self'",
      ...(script === undefined ? [] : ["script-src 'self'"]),
      `form-action ${["'self'", ...formTargets].join(' ')}`,
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ].join('; '),
    'x-frame-options': 'DENY',
    // With no-referrer, browsers would also omit Origin in forms.
    'referrer-policy': 'same-origin',
    'cache-control': 'no-store',
    'cross-origin-resource-policy': 'same-origin',
  })
  res.status(code).type('html').send(toDocument(page))
}

function toDocument({ title, product, body, script }: Page): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${title} – ${product}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<link rel="stylesheet" href="${style.href}">
${script === undefined ? undefined : html`<script src="${scripts[script].href}" defer></script>\n`}</head>
<body>
<main>
<p class="product">${product}</p>
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`.text
}

/** Routes of the files that pages link to; the URL of a file changes with its content. */
export const pageAssets: readonly { readonly path: string; readonly handler: RequestHandler }[] = [
  style,
  ...Object.values(scripts),
].map(({ path, document, headers }) => ({
  path,
  handler: (req, res) => sendDocument({ req, res }, document, headers),
}))

/** Renders the error of the last submission; screen readers announce it immediately. */
export function errorNote(message: string | undefined): Html | undefined {
  return message === undefined ? undefined : html`<p class="error" role="alert" id="error">${message}</p>`
}

export function hiddenFields(fields: Readonly<Record<string, string>>): readonly Html[] {
  return Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">\n`,
  )
}
