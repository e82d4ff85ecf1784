import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { MicromarkToken, Rule } from 'markdownlint'
import { repository } from '../controlplane/settings.ts'

const path = /^(?:cmd|pkg|hack|test|manifests|charts|examples)\/[\w./-]+$/

/** A rule of markdownlint: paths in code spans, such as `pkg/http`, must exist in this repository. */
const codePaths: Rule = {
  names: ['code-paths'],
  description: 'Paths in code spans should exist in the repository',
  tags: ['links'],
  parser: 'micromark',
  function({ parsers }, onError) {
    for (const { type, text, startLine } of flatten(parsers.micromark.tokens))
      if (type === 'codeTextData' && path.test(text) && !existsSync(join(repository, text)))
        onError({ lineNumber: startLine, detail: `${JSON.stringify(text)} does not exist` })
  },
}

function flatten(tokens: readonly MicromarkToken[]): readonly MicromarkToken[] {
  return tokens.flatMap(token => [token, ...flatten(token.children)])
}

// biome-ignore lint/style/noDefaultExport: markdownlint imports it
export default codePaths
