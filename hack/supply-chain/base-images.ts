const pinned = /^[^@\s]+@sha256:[0-9a-f]{64}$/

/**
 * Returns problems of the base images of a Dockerfile: images without a digest, a downloaded
 * frontend, or a Node.js version that differs from that of the tests. Build arguments have their
 * defaults.
 *
 * @param nodeVersion the version of hack/node, such as 24.21.0
 */
export function baseImageFaults(file: string, text: string, nodeVersion: string): readonly string[] {
  const defaults = new Map<string, string>()
  // The reserved name of the empty image.
  const stages = new Set(['scratch'])
  const faults: string[] = []
  const lines = text.replaceAll(/\\\n/g, ' ').split('\n')
  for (const line of lines) {
    // A syntax directive is only valid on the first line; elsewhere it is a comment.
    if (/^#\s*syntax\s*=/i.test(line))
      faults.push(`${file}: remove the syntax directive, so that the built-in frontend is used: ${line}`)
    const [, name, value = ''] = /^ARG\s+(\w+)=(\S+)/i.exec(line) ?? []
    if (name !== undefined) defaults.set(name, value)
    const from = /^FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?/i.exec(line)
    const named = from?.[1] ?? takenFrom(line)
    const image = named?.replaceAll(/\$\{?(\w+)\}?/g, (_, key) => defaults.get(key) ?? '')
    if (image !== undefined && !stages.has(image)) {
      if (!pinned.test(image)) faults.push(`${file}: ${image || line} is not pinned by its digest`)
      const version = /(?:^|\/)node:(\d[\d.]*)/.exec(image)?.[1]
      if (version !== undefined && version !== nodeVersion)
        faults.push(`${file}: Node.js ${version} is not that of hack/node, ${nodeVersion}`)
    }
    if (from?.[2] !== undefined) stages.add(from[2])
  }
  return faults
}

/** Returns the image or stage from which a line copies files. */
function takenFrom(line: string): string | undefined {
  const [, image] =
    /^COPY\s.*--from=(\S+)/i.exec(line) ?? /^RUN\s.*--mount=\S*\bfrom=([^\s,]+)/i.exec(line) ?? []
  return image
}
