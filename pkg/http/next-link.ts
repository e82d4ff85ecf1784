/**
 * Returns the target of the first link with rel=next in a Link header (RFC 8288 section 3), or
 * undefined. The header is untrusted, so parsing takes linear time.
 */
export function nextLink(header: string): string | undefined {
  for (let start = header.indexOf('<'); start >= 0; ) {
    const end = header.indexOf('>', start)
    if (end < 0) return undefined
    const following = header.indexOf('<', end)
    const parameters = header.slice(end + 1, following < 0 ? header.length : following)
    if (parameters.split(/[;,]/).some(isNext)) return header.slice(start + 1, end)
    start = following
  }
  return undefined
}

function isNext(parameter: string): boolean {
  return /^rel=(next|"next")$/i.test(parameter.trim())
}
