/**
 * Documents in ascending order, each as a step from the one before: seven bits a byte, the lowest first, the eighth set where
 * there is more.
 *
 * @param from where in the bytes they begin
 * @returns where what comes after them begins
 */
export function forEachStep(
  bytes: Buffer,
  from: number,
  count: number,
  visit: (document: number) => void,
): number {
  let document = 0
  let at = from
  for (let left = count; left > 0; left -= 1) {
    let byte = bytes[at++] ?? 0
    let step = byte & 0x7f
    for (let shift = 7; byte >= 0x80; shift += 7) {
      byte = bytes[at++] ?? 0
      step |= (byte & 0x7f) << shift
    }
    document += step
    visit(document)
  }
  return at
}
