/** What a benchmark needs to know of the running programs. */
export type BenchEnv = {
  readonly runDir: string
  readonly hey: string
  readonly groupDomain: string
  readonly kapisUrl: string
  readonly kapisCa: string
  readonly kapisToken: string
  readonly kubeUrl: string
  readonly kubeToken: string
  readonly kubeconfig: string
  readonly namespace: string
  /** The administrator, and the form of a login as him. */
  readonly user: string
  readonly loginForm: string
  readonly pids: ReadonlyMap<string, number>
  /** Of the real OpenSearch, when that is the log store. */
  readonly openSearchUrl: string
}
