const newline = 0x0a

/** Yields the lines of a body without line breaks (LF, CRLF) and byte order marks. */
export function* splitLines(body: Buffer): Generator<string> {
  let from = 0
  while (from < body.length) {
    const found = body.indexOf(newline, from)
    const end = found < 0 ? body.length : found
    // Files with a byte order mark may have been concatenated.
    if (body[from] === 0xef && body[from + 1] === 0xbb && body[from + 2] === 0xbf) from += 3
    if (end === from) yield ''
    else yield body.toString('utf8', from, end > from && body[end - 1] === 0x0d ? end - 1 : end)
    from = end + 1
  }
}
