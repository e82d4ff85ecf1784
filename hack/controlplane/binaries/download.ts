import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { parse } from 'yaml'
import { loadVersions, platform } from './versions.ts'

// A separate program: Node.js reads the proxy settings at startup, and only downloads use a proxy.
// Usage: NODE_USE_ENV_PROXY=1 node download.ts <folder>. On failure it prints the reason and exits
// with 1.

const index =
  process.env.KAPIS_ENVTEST_INDEX ||
  'https://raw.githubusercontent.com/kubernetes-sigs/controller-tools/HEAD/envtest-releases.yaml'
const answerWithinMs = 3000
const stalledMs = 20_000

type Archive = { readonly version: string; readonly hash: string; readonly url: string }

try {
  const archive = newestArchive(parse((await get(index)).toString('utf8')))
  console.log(`downloading Kubernetes ${archive.version} from ${new URL(archive.url).host}`)
  const bytes = await get(archive.url)
  if (createHash('sha512').update(bytes).digest('hex') !== archive.hash) {
    throw new Error(`the SHA-512 of ${archive.url} differs from the index`)
  }
  for (const { name, content } of filesOf(gunzipSync(bytes))) {
    writeFileSync(join(process.argv[2] ?? '.', basename(name)), content, { mode: 0o755 })
  }
} catch (error) {
  console.error(reason(error))
  process.exitCode = 1
}

function newestArchive(document: unknown): Archive {
  const { os, arch } = platform()
  const minor = loadVersions().kubernetes.split('.').slice(0, 2).join('.')
  const found: Archive[] = []
  for (const [version, archives] of Object.entries(member(document, 'releases') ?? {})) {
    const archive = member(archives, `envtest-${version}-${os}-${arch}.tar.gz`)
    const { hash, selfLink } = { hash: member(archive, 'hash'), selfLink: member(archive, 'selfLink') }
    if (!new RegExp(`^v${minor.replace('.', '\\.')}\\.\\d+$`).test(version)) continue
    if (typeof hash === 'string' && typeof selfLink === 'string') found.push({ version, hash, url: selfLink })
  }
  const newest = found.sort((a, b) => patch(b.version) - patch(a.version))[0]
  if (newest === undefined) throw new Error(`no archive of ${minor} for ${os}-${arch} in ${index}`)
  return newest
}

function patch(version: string): number {
  return Number(version.split('.')[2])
}

function member(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null
    ? Object.entries(value).find(([k]) => k === key)?.[1]
    : undefined
}

async function get(url: string): Promise<Buffer> {
  const abort = new AbortController()
  const giveUp = () => abort.abort(new Error(`no response from ${new URL(url).host}`))
  let timer = setTimeout(giveUp, answerWithinMs)
  try {
    const response = await fetch(url, { signal: abort.signal })
    if (!response.ok || response.body === null) throw new Error(`${url} answered ${response.status}`)
    const chunks: Uint8Array[] = []
    for await (const chunk of response.body) {
      chunks.push(chunk)
      clearTimeout(timer)
      timer = setTimeout(giveUp, stalledMs)
    }
    return Buffer.concat(chunks)
  } finally {
    clearTimeout(timer)
  }
}

/** Yields the files of a tar archive: a header of 512 bytes, and padded content. */
function* filesOf(tar: Buffer): Generator<{ name: string; content: Buffer }> {
  for (let at = 0; at + 512 <= tar.length && tar[at] !== 0; ) {
    const field = (from: number, length: number) =>
      tar.toString('latin1', at + from, at + from + length).replace(/[\0 ].*$/s, '')
    const size = Number.parseInt(field(124, 12) || '0', 8)
    if (field(156, 1) === '0' || field(156, 1) === '') {
      yield { name: field(0, 100), content: tar.subarray(at + 512, at + 512 + size) }
    }
    at += 512 + Math.ceil(size / 512) * 512
  }
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  return cause instanceof Error && cause.message !== '' ? cause.message : error.message
}
