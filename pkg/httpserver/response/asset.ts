import { readFileSync } from 'node:fs'
import type { OutgoingHttpHeaders } from 'node:http'
import { createTextDocument, type Document } from './document.ts'

/** A style or a script that pages link to. */
export type Asset = {
  readonly path: string
  /** The path with a hash of the content, so that browsers may cache it without limit. */
  readonly href: string
  readonly document: Document
  readonly headers: OutgoingHttpHeaders
}

const theme = new URL('./theme.css', import.meta.url)
const types = { css: 'text/css; charset=utf-8', js: 'text/javascript; charset=utf-8' }

/**
 * Reads a file next to the page that links to it. The style sheet of every page begins with the
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
