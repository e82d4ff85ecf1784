import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { OutgoingHttpHeaders } from 'node:http'
import { basename } from 'node:path'
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

/** Reads a file next to its page; each style sheet is prepended with the common one. */
export function readAsset(file: URL, path: string): Asset {
  const { document, headers } = readDocument(file)
  return { path, href: `${path}?v=${document.hash.slice(0, 12)}`, document, headers }
}

/** Style sheets and modules in a folder. */
export type AssetFolder = {
  /** The path of the folder, with a hash of all contents, so that browsers may cache them without limit. */
  readonly path: string
  readonly find: (path: string) => Pick<Asset, 'document' | 'headers'> | undefined
}

/**
 * Reads the style sheets and JavaScript modules of pages into one folder below a path. Modules
 * import each other by relative paths.
 */
export function readAssetFolder(files: readonly URL[], parent: string): AssetFolder {
  const read = files.map(file => [basename(file.pathname), readDocument(file)] as const)
  const hash = createHash('sha256')
  for (const [name, { document }] of read) hash.update(`${name} ${document.hash}\n`)
  const path = `${parent}/${hash.digest('hex').slice(0, 12)}`
  const byPath = new Map(read.map(([name, asset]) => [`${path}/${name}`, asset]))
  return { path, find: requestPath => byPath.get(requestPath) }
}

function readDocument(file: URL): Pick<Asset, 'document' | 'headers'> {
  const type = file.pathname.endsWith('.css') ? 'css' : 'js'
  const text = readFileSync(file, 'utf8')
  const document = createTextDocument(type === 'css' ? readFileSync(theme, 'utf8') + text : text)
  return {
    document,
    headers: {
      'content-type': types[type],
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
    },
  }
}
