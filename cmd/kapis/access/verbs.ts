/** Verbs of RBAC, for shell completion. */
export const verbs: readonly string[] = [
  ...['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'],
  ...['impersonate', 'bind', 'escalate', '*'],
]
