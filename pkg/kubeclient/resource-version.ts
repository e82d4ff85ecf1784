/** Of one resource, resource versions are whole numbers that grow (KEP-5504). */
export function isLater(a: string, b: string): boolean {
  return a.length === b.length ? a > b : a.length > b.length
}
