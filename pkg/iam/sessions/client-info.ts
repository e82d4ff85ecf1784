/** Where a login comes from, as far as kapis-apiserver could find out. */
export type Source = {
  /** Without spoofable parts (see createClientAddress). */
  readonly address: string
  readonly userAgent: string
}
