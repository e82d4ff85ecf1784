/**
 * Returns a function that tests names against a pattern with `*` for any characters. It takes
 * linear time; a regular expression with several `*` would take polynomial time.
 */
export function createNamePattern(pattern: string): (name: string) => boolean {
  const [start = '', ...parts] = pattern.split('*')
  const end = parts.pop()
  if (end === undefined) return name => name === pattern
  return name => {
    if (!name.startsWith(start)) return false
    let at = start.length
    for (const part of parts) {
      const found = name.indexOf(part, at)
      if (found === -1) return false
      at = found + part.length
    }
    return name.length - end.length >= at && name.endsWith(end)
  }
}
