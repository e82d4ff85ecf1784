/** Where a login comes from, as far as the front could find out. */
export type Source = {
  /** Without spoofable parts (see createClientAddress). */
  readonly address: string
  readonly userAgent: string
}
