import { readFileSync } from 'node:fs'
import type { OutgoingHttpHeaders } from 'node:http'
import { createTextDocument, type Document } from './document.ts'

/** A style sheet or a script to which pages link. */
export type Asset = {
  readonly path: string
  /** The path with a hash of the content, so that browsers may cache the response without limit. */
  readonly href: string
  readonly document: Document
  readonly headers: OutgoingHttpHeaders
}

const theme = new URL('./theme.css', import.meta.url)
const types = { css: 'text/css; charset=utf-8', js: 'text/javascript; charset=utf-8' }

/**
 * Reads a file in the folder of the page that links to it. Each style sheet is prepended with the
 * common one.
 */
export function readAsset(file: URL, path: string): Asset {
  const type = file.pathname.endsWith('.css') ? 'css' : 'js'
  const text = readFileSync(file, 'utf8')
  const document = createTextDocument(type === 'css' ? readFileSync(theme, 'utf8') + text : text)
  return {
    path,
    href: `${path}?v=${document.hash.slice(0, 12)}`,
    document,
    headers: {
      'content-type': types[type],
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
    },
  }
}
