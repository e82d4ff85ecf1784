const newline = 0x0a

/** Yields the lines of a body, including empty ones, without their line breaks (LF or CRLF). */
export function* splitLines(body: Buffer): Generator<string> {
  let from = 0
  while (from < body.length) {
    const found = body.indexOf(newline, from)
    const end = found < 0 ? body.length : found
    if (end === from) yield ''
    else yield body.toString('utf8', from, end > from && body[end - 1] === 0x0d ? end - 1 : end)
    from = end + 1
  }
}
