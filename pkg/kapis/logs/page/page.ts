import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { send } from '../../../request/respond.ts'

const read = (name: string) => readFileSync(new URL(`./${name}`, import.meta.url), 'utf8')

/** What a page of ours may do: our one script, our one style, requests to this server; in nobody's frame. */
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
  /** @returns whether there is such a document */
  readonly send: (req: IncomingMessage, res: ServerResponse, path: string) => boolean
  /** A page that says what went wrong, in words. */
  readonly sendProblem: (res: ServerResponse, code: number, message: string) => void
}

/** The page, its script and its style: the same for everybody, and nothing in them is secret. */
export function createDocuments(product: string): LogPageDocuments {
  const [page, style, script] = [read('page.html'), read('page.css'), read('script.js')]
  const version = createHash('sha256').update(style).update(script).digest('base64url').slice(0, 12)
  const fill = (text: string) =>
    text.replaceAll('{{product}}', escapeHtml(product)).replaceAll('{{version}}', version)
  // Their address changes with them.
  const kept = {
    'cache-control': 'public, max-age=31536000, immutable',
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
  }
  const documents = new Map([
    ['/logs', { body: fill(page), headers: pageHeaders }],
    ['/logs/page.css', { body: style, headers: { ...kept, 'content-type': 'text/css; charset=utf-8' } }],
    [
      '/logs/script.js',
      { body: script, headers: { ...kept, 'content-type': 'text/javascript; charset=utf-8' } },
    ],
  ])
  return {
    send(_req, res, path) {
      const found = documents.get(path)
      if (found !== undefined) send(res, 200, Buffer.from(found.body), found.headers)
      return found !== undefined
    },
    sendProblem(res, code, message) {
      const body = fill(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>That did not work – {{product}}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="/logs/page.css?v={{version}}">
</head>
<body>
<main>
<h1>That did not work</h1>
<p class="error" role="alert">${escapeHtml(message)}</p>
<p><a class="button" href="/logs/login">Log in again</a></p>
</main>
</body>
</html>
`)
      send(res, code, Buffer.from(body), pageHeaders)
    },
  }
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, character => entities[character] ?? '')
}
