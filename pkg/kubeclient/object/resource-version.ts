/** Returns whether version `a` is later than `b`: they are increasing integers (KEP-5504). */
export function isLater(a: string, b: string): boolean {
  return a.length === b.length ? a > b : a.length > b.length
}
