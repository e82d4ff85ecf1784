import { dirname, join, normalize } from 'node:path'

export type Files = {
  /** Reports whether a path in the repository is a file or a folder. */
  readonly exists: (path: string) => boolean
  /** Returns the text of a document. */
  readonly read: (path: string) => string
}

/**
 * Returns the links of a document whose file or heading does not exist. Paths in code spans, such
 * as `pkg/authn/read-bearer.ts`, are checked like links.
 */
export function findBrokenLinks(document: string, files: Files): readonly string[] {
  const text = files.read(document)
  const broken = linksOf(text).flatMap(link => {
    const problem = problemOf(link, document, files)
    return problem === undefined ? [] : [`${document}: ${link} ${problem}`]
  })
  const missing = pathsOf(text).filter(path => !files.exists(path.replace(/\/$/, '')))
  return [...broken, ...missing.map(path => `${document}: ${path} does not exist`)]
}

function problemOf(link: string, document: string, files: Files): string | undefined {
  const [path = '', anchor = ''] = link.split('#')
  const target =
    path === '' ? document : normalize(join(dirname(document), decodeURIComponent(path))).replace(/\/$/, '')
  if (target.startsWith('..')) return 'points outside of the repository'
  if (!files.exists(target)) return 'does not exist'
  if (anchor === '') return undefined
  if (!target.endsWith('.md')) return 'has an anchor, but is not a document'
  return anchorsOf(files.read(target)).has(anchor) ? undefined : `has no heading #${anchor}`
}

/** Returns the relative targets of inline links and images; code is ignored. */
function linksOf(text: string): readonly string[] {
  const prose = withoutCode(text).replaceAll(/`[^`\n]*`/g, '')
  return [...prose.matchAll(/\]\(([^()\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter(target => !/^[a-z][a-z0-9+.-]*:/i.test(target))
}

/** Returns the code spans that are paths from the root of the repository. */
function pathsOf(text: string): readonly string[] {
  const paths = /`((?:cmd|pkg|hack|test|manifests|charts|examples)\/[A-Za-z0-9_./-]+)`/g
  return [...withoutCode(text).matchAll(paths)].map(([, path = '']) => path)
}

/** Returns the anchors of GitHub: lower case, hyphens for spaces, -1 for a repeated heading. */
function anchorsOf(text: string): ReadonlySet<string> {
  const anchors = new Set<string>()
  const prose = withoutCode(text)
  for (const [, id = ''] of prose.matchAll(/<a id="([^"]+)">/g)) anchors.add(id)
  const seen = new Map<string, number>()
  for (const [, heading = ''] of prose.matchAll(/^#{1,6} +(.*)$/gm)) {
    const slug = heading
      .trim()
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-')
    const count = seen.get(slug) ?? 0
    seen.set(slug, count + 1)
    anchors.add(count === 0 ? slug : `${slug}-${count}`)
  }
  return anchors
}

function withoutCode(text: string): string {
  return text.replaceAll(/^(```|~~~)[\s\S]*?^\1/gm, '')
}
