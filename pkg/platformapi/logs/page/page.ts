import { readdirSync, readFileSync } from 'node:fs'
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { readAssetFolder } from '../../../httpserver/response/asset.ts'
import { sendDocument } from '../../../httpserver/response/document.ts'
import { escapeHtml, html } from '../../../httpserver/response/html-template.ts'
import { send } from '../../../httpserver/response/respond.ts'

const pageFiles = { '/logs': 'page.html', '/logs/recordings': 'recordings.html' }

/** Content-Security-Policy: scripts, styles and requests of this server, no frames. */
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

const folder = new URL('assets/', import.meta.url)
const files = [
  ...readdirSync(folder).map(name => new URL(name, folder)),
  new URL(import.meta.resolve('@xterm/headless/lib-headless/xterm-headless.mjs')),
]

/** The pages, their modules and their style sheet: static and public. */
export function createDocuments(product: string): LogPageDocuments {
  const assets = readAssetFolder(files, '/logs/assets')
  const readPage = (name: string) =>
    Buffer.from(
      readFileSync(new URL(name, import.meta.url), 'utf8')
        .replaceAll('{{product}}', () => escapeHtml(product))
        .replaceAll('{{assets}}', assets.path),
    )
  const pages = new Map(Object.entries(pageFiles).map(([path, name]) => [path, readPage(name)]))
  return {
    send(req, res, path) {
      const asset = assets.find(path)
      const page = pages.get(path)
      if (asset !== undefined) sendDocument({ req, res }, asset.document, asset.headers)
      else if (page !== undefined) send(res, 200, page, pageHeaders)
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
<link rel="stylesheet" href="${assets.path}/page.css">
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
