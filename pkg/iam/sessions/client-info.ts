/** The client address and user agent of a login, as kapis-apiserver determined them. */
export type ClientInfo = {
  /** The client address without spoofable parts (see createClientAddress). */
  readonly address: string
  readonly userAgent: string
}
