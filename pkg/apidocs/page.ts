import type { OutgoingHttpHeaders } from 'node:http'
import { methodNotAllowed } from '../apierrors/status.ts'
import { readAsset } from '../httpserver/response/asset.ts'
import { createTextDocument, type Document, sendDocument } from '../httpserver/response/document.ts'
import { type Html, html } from '../httpserver/response/html-template.ts'
import type { DescribedSection } from '../openapi/document.ts'
import type { ApiDocument } from './documents.ts'
import { sectionHtml, sectionId } from './section.ts'

export type DocsPageOptions = {
  readonly sections: readonly DescribedSection[]
  readonly product: string
  readonly version: string
}

type StaticFile = { readonly document: Document; readonly headers: OutgoingHttpHeaders }

const root = '/docs'
const policy = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

/**
 * Serves GET /docs, the whole API reference on one page, rendered once from the OpenAPI documents.
 * The page loads nothing from other servers; its script is only needed for the search.
 */
export function createDocsPage(options: DocsPageOptions): ApiDocument {
  const style = readAsset(new URL('./style.css', import.meta.url), `${root}/style.css`)
  const script = readAsset(new URL('./search.js', import.meta.url), `${root}/search.js`)
  const page = {
    path: root,
    document: createTextDocument(toPage(options, style.href, script.href).text),
    headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache, private' },
  }
  const files = new Map<string, StaticFile>([page, style, script].map(file => [file.path, file]))
  return {
    handles: path => files.has(path),
    handle(exchange) {
      const { req, res, info } = exchange
      if (req.method !== 'GET' && req.method !== 'HEAD') throw methodNotAllowed(['GET', 'HEAD'])
      const file = files.get(info.path)
      if (file === undefined) throw new Error(`path ${info.path} not found`)
      res.setHeader('content-security-policy', policy)
      res.setHeader('x-content-type-options', 'nosniff')
      res.setHeader('referrer-policy', 'no-referrer')
      sendDocument(exchange, file.document, file.headers)
    },
  }
}

function toPage(
  { sections, product, version }: DocsPageOptions,
  styleHref: string,
  scriptHref: string,
): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>API reference – ${product}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${styleHref}">
<script src="${scriptHref}" defer></script>
</head>
<body>
<a class="skip" href="#reference">To the reference</a>
<header>
<p class="product">${product}</p>
<h1>API reference</h1>
<p>Version ${version}. A GET may be a HEAD everywhere. The OpenAPI documents are listed at <a href="/openapi/v3">/openapi/v3</a>, those of kube-apiserver’s own API next to them.</p>
<div id="search" hidden>
<label for="words">Search</label>
<input id="words" type="search" autocomplete="off" spellcheck="false">
<p id="found" role="status"></p>
</div>
</header>
<nav aria-label="Groups">
<ul>
${sections.map(section => html`<li><a href="#${sectionId(section)}">${section.title}</a></li>\n`)}</ul>
</nav>
<main id="reference" tabindex="-1">
${sections.map(sectionHtml)}</main>
</body>
</html>
`
}
