import { readFileSync } from 'node:fs'
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { readAsset } from '../../../httpserver/response/asset.ts'
import { sendDocument } from '../../../httpserver/response/document.ts'
import { escapeHtml, html } from '../../../httpserver/response/html.ts'
import { send } from '../../../httpserver/response/respond.ts'

/**
 * Content-Security-Policy of the page: only the script and style sheet of Kapis, requests to this
 * server, and no frames.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ')

export const pageHeaders: OutgoingHttpHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

export type LogPageDocuments = {
  /** Sends a document. @returns false if it does not exist */
  readonly send: (req: IncomingMessage, res: ServerResponse, path: string) => boolean
  /** Sends an error page. */
  readonly sendProblem: (res: ServerResponse, code: number, message: string) => void
}

/** Creates the page, its script and its style sheet, which are static and public. */
export function createDocuments(product: string): LogPageDocuments {
  const style = readAsset(new URL('./page.css', import.meta.url), '/logs/page.css')
  const script = readAsset(new URL('./script.js', import.meta.url), '/logs/script.js')
  const page = readFileSync(new URL('./page.html', import.meta.url), 'utf8')
    .replaceAll('{{product}}', () => escapeHtml(product))
    .replace('{{style}}', style.href)
    .replace('{{script}}', script.href)
  return {
    send(req, res, path) {
      const asset = [style, script].find(({ path: itsPath }) => itsPath === path)
      if (asset !== undefined) sendDocument({ req, res }, asset.document, asset.headers)
      else if (path === '/logs') send(res, 200, Buffer.from(page), pageHeaders)
      else return false
      return true
    },
    sendProblem(res, code, message) {
      const { text } = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Request failed – ${product}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${style.href}">
</head>
<body>
<main>
<h1>Request failed</h1>
<p class="error" role="alert">${message}</p>
<p><a class="button" href="/logs/login">Log in again</a> <a class="button second" href="/logs">Logs</a></p>
</main>
</body>
</html>
`
      send(res, code, Buffer.from(text), pageHeaders)
    },
  }
}
