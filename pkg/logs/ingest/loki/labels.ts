// Maximum number of labels. Streams in Loki have far fewer.
const maxLabels = 4096
// Maximum length of the labels. Loki limits a value to 2 KiB.
const maxChars = 256 * 1024
// A name, in quotes if it has special characters, and a value quoted like in Go.
const pair = /\s*(?:([^\s=,{}"`]+)|"((?:[^"\\]|\\.)*)")\s*=\s*(?:"((?:[^"\\]|\\.)*)"|`([^`]*)`)\s*/y

/** Parses labels: `{namespace="shop", pod="web-0"}`. @returns undefined if invalid */
export function parseLabels(text: string): readonly (readonly [string, string])[] | undefined {
  if (text.length > maxChars) return undefined
  const whole = text.trim()
  if (!whole.startsWith('{') || !whole.endsWith('}') || whole.length < 2) return undefined
  // Without this, the expression would scan trailing spaces again after each comma.
  const inner = whole.slice(1, -1).trimEnd()
  const labels: (readonly [string, string])[] = []
  pair.lastIndex = 0
  while (pair.lastIndex < inner.length) {
    const found = pair.exec(inner)
    if (found === null) return undefined
    const [, name, quotedName = '', value, rawValue = ''] = found
    labels.push([name ?? unquote(quotedName), value === undefined ? rawValue : unquote(value)])
    if (pair.lastIndex === inner.length) return labels
    if (inner[pair.lastIndex] !== ',' || labels.length === maxLabels) return undefined
    pair.lastIndex += 1
  }
  return labels
}

const escapes = /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|(.))/gs
const letters: Readonly<Record<string, string>> = {
  ...{ a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' },
}

function unquote(text: string): string {
  return text.replaceAll(escapes, (_, x?: string, u?: string, long?: string, octal?: string, letter = '') => {
    const code = octal === undefined ? Number.parseInt(x ?? u ?? long ?? '', 16) : Number.parseInt(octal, 8)
    if (Number.isNaN(code)) return letters[letter] ?? letter
    return code > 0x10ffff ? '\ufffd' : String.fromCodePoint(code)
  })
}
