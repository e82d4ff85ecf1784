/** The client address and user agent of a login, as kapis-apiserver determined them. */
export type Source = {
  /** Without spoofable parts (see createClientAddress). */
  readonly address: string
  readonly userAgent: string
}
