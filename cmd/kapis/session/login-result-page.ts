import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'

const style = `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
body { margin: 20vh auto 0; max-width: 26rem; padding: 0 1.5rem }
h1 { font-size: 1.5rem; margin: 0 0 .5rem }
p { margin: 0 }
`
const hash = createHash('sha256').update(style).digest('base64')

/** Sends the page that a browser login ends with. Its texts are constant. */
export function returnPage(res: ServerResponse, status: number, title: string, text: string): void {
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': `default-src 'none'; style-src 'sha256-${hash}'; frame-ancestors 'none'`,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    connection: 'close',
  }
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>`
  const body = `<main><h1>${title}</h1><p>${text}</p></main>`
  res.writeHead(status, headers)
  res.end(
    `<!doctype html><html lang="en"><head>${head}<style>${style}</style></head><body>${body}</body></html>\n`,
  )
}
